// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// The parts that identify the caller: header fields, query items and user info that the request's redactor treats
    /// as secret, by their names or by the form of their values.
    ///
    /// Two requests with equal parts have the same credentials. A wrapper that returns one caller's response to another
    /// caller compares these parts. They contain the secrets in plain text, so never store or log them.
    public var credentialParts: [String] {
        let redactor = redactor
        let fields = headers.filter { redactor.isSecret($0) }.map {
            "\($0.name.rawValue.lowercased()):\($0.value)"
        }
        // Most URLs have no user info, and many have no query. Foundation takes a microsecond to say so.
        let text = url.absoluteString.utf8
        let query = text.contains(UInt8(ascii: "?")) ? url.query(percentEncoded: true) ?? "" : ""
        let items = query.utf8.split(separator: UInt8(ascii: "&")).map { Substring($0) }.filter {
            redactor.isSecret(encodedItem: $0)
        }
        let hasUserInfo = text.contains(UInt8(ascii: "@"))
        let userInfo =
            hasUserInfo ? [url.user(percentEncoded: true), url.password(percentEncoded: true)].compactMap { $0 } : []
        return fields.sorted() + items.map { "?\($0)" }.sorted() + userInfo.map { "@\($0)" }
    }
}
