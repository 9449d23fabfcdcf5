// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension Redactor {
    /// A text of any kind, such as a log's line or an error's words, with what is secret within it replaced.
    ///
    /// It finds fields of JSON (also in JSON within a string, and where the text ends early), forms, XML and header
    /// lines, URLs, `Bearer …` and `Basic …`, and JSON web tokens.
    public func redact(text: String) -> String {
        redact(Array(text.utf8), in: .text).map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    /// A body, or its beginning, with the values of secret fields replaced: JSON, form, multipart, XML or text.
    ///
    /// A form is told by its media type, or where that is nil, as by default, by how the text begins.
    public func redact(body text: String, mediaType: MediaType? = nil) -> String {
        let bytes = Array(text.utf8)
        return redact(bytes, in: place(of: bytes, mediaType)).map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    /// The same for bytes, which need not be text.
    public func redact(body: Data, mediaType: MediaType? = nil) -> Data {
        let bytes = Array(body)
        return redact(bytes, in: place(of: bytes, mediaType)).map { Data($0) } ?? body
    }

    /// The bytes with secrets replaced; nil where there was nothing to replace.
    func redact(_ bytes: [UInt8], in place: SecretScanner.Place) -> [UInt8]? {
        let masked = values?.masked(bytes) ?? bytes
        var redacted: [UInt8]?
        if SecretScanner.mayHoldSecrets(masked) {
            var scanner = SecretScanner(masked, in: place, redactor: self)
            redacted = scanner.run()
        }
        return redacted ?? (masked == bytes ? nil : masked)
    }

    /// A text with the known values alone replaced, for words of our own that may quote the server.
    func redactValues(in text: String) -> String {
        values.map { String(decoding: $0.masked(text.utf8), as: UTF8.self) } ?? text
    }

    /// The beginning of a body as text.
    func redact(prefixOf body: Data, byteCount: Int, mediaType: MediaType?) -> String {
        let prefix = values?.masked(body, upTo: byteCount) ?? Array(body.prefix(byteCount))
        return redact(body: String(decoding: prefix, as: UTF8.self), mediaType: mediaType)
    }

    /// The beginning of a body as bytes, which need not be text.
    ///
    /// - Parameter byteCount: How many bytes are wanted. Pass some more of the body, because a secret may end after them.
    func redacted(prefixOf body: Data, byteCount: Int, mediaType: MediaType?) -> Data {
        let prefix = values?.masked(body, upTo: byteCount) ?? Array(body.prefix(byteCount))
        return Data(redact(prefix, in: place(of: prefix, mediaType)) ?? prefix)
    }

    func place(of bytes: [UInt8], _ mediaType: MediaType?) -> SecretScanner.Place {
        if let mediaType, mediaType.type == "application", mediaType.subtype == MediaType.form.subtype { return .form }
        let name = bytes.prefix { SecretScanner.isName($0) || $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }
        let isForm = !name.isEmpty && bytes.dropFirst(name.count).first == UInt8(ascii: "=")
        return isForm && !bytes.contains(UInt8(ascii: "\n")) ? .form : .text
    }
}
