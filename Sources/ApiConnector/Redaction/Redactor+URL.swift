// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension Redactor {
    /// The URL's text with user info and the values of secret items in query and fragment replaced.
    public func redact(_ url: URL) -> String {
        redact(urlText: url.absoluteString)
    }

    /// The same for a text that should be a URL, absolute or relative, whatever it holds.
    func redact(urlText text: String) -> String {
        let bytes = Array(text.utf8)
        let fragmentStart = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        let queryStart = bytes[..<fragmentStart].firstIndex(of: UInt8(ascii: "?")) ?? fragmentStart
        let parts: [(ArraySlice<UInt8>, SecretScanner.Place)] = [
            (bytes[..<queryStart], .path), (bytes[queryStart..<fragmentStart], .form), (bytes[fragmentStart...], .form),
        ]
        let redacted = parts.flatMap { bytes, place in redact(Array(bytes), in: place) ?? Array(bytes) }
        return String(decoding: redacted, as: UTF8.self)
    }
}
