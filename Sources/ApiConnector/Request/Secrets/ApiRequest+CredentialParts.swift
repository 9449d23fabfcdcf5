// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// The parts that show who asks: header fields, query items and user info that the request's redactor knows as secret.
    ///
    /// Two requests with equal parts carry the same credentials. A wrapper that gives one caller's response to another
    /// compares them. They hold the secrets in clear: never store or log them.
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
