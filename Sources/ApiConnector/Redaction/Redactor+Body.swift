// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension Redactor {
    /// Redacts a text of any kind, such as a line of a log or an error's message.
    ///
    /// It finds:
    ///
    /// - the values of secret fields in JSON, forms, XML and header lines; the JSON may be within a string, or cut off
    /// - secrets in URLs
    /// - credentials after `Bearer` and `Basic`
    /// - JSON web tokens, and private keys in PEM format
    public func redact(text: String) -> String {
        redact(Array(text.utf8), in: .text).map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    /// Redacts a body or its beginning: the values of secret fields in JSON, forms, multipart forms, XML or text.
    ///
    /// Without a media type, a form is recognized by how the text begins.
    public func redact(body text: String, mediaType: MediaType? = nil) -> String {
        let bytes = Array(text.utf8)
        return redact(bytes, in: place(of: bytes, mediaType)).map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    /// Redacts a body whose bytes need not be text.
    ///
    /// A body in UTF-16 or UTF-32 that has a secret is replaced as a whole.
    public func redact(body: Data, mediaType: MediaType? = nil) -> Data {
        if hidesSecrets(in: body, mediaType) { return Data(Self.replacement.utf8) }
        let bytes = Array(body)
        return redact(bytes, in: place(of: bytes, mediaType)).map { Data($0) } ?? body
    }

    /// The redacted bytes; nil if there was nothing to replace.
    func redact(_ bytes: [UInt8], in place: SecretText.Place) -> [UInt8]? {
        let masked = values?.masked(bytes) ?? bytes
        var redacted: [UInt8]?
        if SecretText.mayHoldSecrets(masked) {
            var scanner = SecretScanner(masked, in: place, redactor: self)
            redacted = scanner.redacted()
        }
        return redacted ?? (masked == bytes ? nil : masked)
    }

    /// Replaces the known secret values in a text, and applies no other rule.
    ///
    /// The library's own texts need this too, because they can quote the server.
    func redactValues(in text: String) -> String {
        values.map { String(decoding: $0.masked(text.utf8), as: UTF8.self) } ?? text
    }

    /// The redacted beginning of a body as text.
    func redact(prefixOf body: Data, byteCount: Int, mediaType: MediaType?) -> String {
        String(decoding: redacted(prefixOf: body, byteCount: byteCount, mediaType: mediaType), as: UTF8.self)
    }

    /// The redacted beginning of a body as bytes, which need not be text.
    ///
    /// The text is redacted before it is cut, because a name after a value may say that the value is secret, and a token
    /// that is cut off may be too short to be recognized.
    ///
    /// - Parameters:
    ///   - body: The body or its beginning. Pass ``marginByteCount`` more bytes than `byteCount` if there are more.
    ///   - byteCount: The number of bytes of the body to return.
    ///   - mediaType: The body's media type.
    func redacted(prefixOf body: Data, byteCount: Int, mediaType: MediaType?) -> Data {
        let (end, isOverflowing) = byteCount.addingReportingOverflow(Self.marginByteCount)
        let readByteCount = isOverflowing ? .max : end
        if hidesSecrets(in: body.prefix(readByteCount), mediaType) { return Data(Self.replacement.utf8) }
        let prefix = values?.masked(body, upTo: byteCount) ?? Array(body.prefix(byteCount))
        if isForTokens, !prefix.isEmpty, !prefix.contains(where: Self.bytesOfContainers.contains) {
            return Data(Self.replacement.utf8)
        }
        let read = values?.masked(body, upTo: readByteCount) ?? Array(body.prefix(readByteCount))
        guard SecretText.mayHoldSecrets(read) else { return Data(prefix) }
        var scanner = SecretScanner(read, in: place(of: read, mediaType), redactor: self)
        return Data(scanner.redacted(upTo: prefix.count) ?? prefix)
    }

    /// The number of bytes that are read after the returned bytes.
    static let marginByteCount = 8 * 1024

    /// A body without these bytes is one word, which may be a token.
    private static let bytesOfContainers = ByteSet(" {[<=&")

    func place(of bytes: [UInt8], _ mediaType: MediaType?) -> SecretText.Place {
        if let mediaType, mediaType.type == "application", mediaType.subtype == MediaType.form.subtype { return .form }
        let name = bytes.prefix { SecretText.isName($0) || $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }
        let isForm = !name.isEmpty && bytes.dropFirst(name.count).first == UInt8(ascii: "=")
        return isForm && !bytes.contains(UInt8(ascii: "\n")) ? .form : .text
    }
}
