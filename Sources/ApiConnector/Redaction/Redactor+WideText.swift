// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension Redactor {
    /// Whether a body seems to be in UTF-16 or UTF-32: by its charset, its byte order mark, or a zero byte among its first
    /// four bytes.
    static func isWide(_ body: some Collection<UInt8>, _ mediaType: MediaType?) -> Bool {
        let start = Array(body.prefix(4))
        if start.contains(0) || start.starts(with: [0xFE, 0xFF]) || start.starts(with: [0xFF, 0xFE]) { return true }
        guard let charset = mediaType?[parameter: "charset"]?.lowercased() else { return false }
        return charset.hasPrefix("utf-16") || charset.hasPrefix("utf-32") || charset.hasPrefix("ucs-")
    }

    /// Whether a body in UTF-16 or UTF-32 has a secret, which cannot be replaced in it.
    func hidesSecrets(in body: some Collection<UInt8>, _ mediaType: MediaType?) -> Bool {
        guard Self.isWide(body, mediaType) else { return false }
        let bytes = Array(body)
        // A binary body can also begin with a zero byte. The secrets that are found in it are replaced.
        let redacted = redact(bytes, in: place(of: bytes, mediaType)) ?? bytes
        guard let text = Self.narrowed(redacted, mediaType: mediaType) else { return false }
        return redact(text, in: place(of: text, mediaType)).map { $0 != text } ?? false
    }
}
