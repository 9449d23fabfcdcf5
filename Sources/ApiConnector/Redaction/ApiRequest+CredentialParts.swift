// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// What shows who asks, as a redactor of this request knows it: fields, items of the query, user info.
    ///
    /// - Parameter redactor: That of the request as it was sent, which may know more.
    func credentialParts(known redactor: Redactor) -> [String] {
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
