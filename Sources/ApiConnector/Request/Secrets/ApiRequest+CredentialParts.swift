// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// The parts that identify the caller: header fields, query items and user info that the request's redactor treats
    /// as secret.
    ///
    /// Two requests with equal parts have the same credentials. A wrapper that returns one caller's response to another
    /// caller compares these parts. They contain the secrets in plain text, so never store or log them.
    public var credentialParts: [String] {
        let redactor = redactor
        let fields = headers.filter { redactor.isSecret(header: $0.name) }.map {
            "\($0.name.rawValue.lowercased()):\($0.value)"
        }
        let items = (url.query(percentEncoded: true) ?? "").split(separator: "&").filter {
            redactor.isSecret(encodedItem: $0)
        }
        let userInfo = [url.user(percentEncoded: true), url.password(percentEncoded: true)].compactMap { $0 }
        return fields.sorted() + items.map { "?\($0)" }.sorted() + userInfo.map { "@\($0)" }
    }
}
