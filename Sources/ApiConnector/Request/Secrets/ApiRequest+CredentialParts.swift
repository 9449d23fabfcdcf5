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
        var parts: [String] = []
        for field in headers where redactor.isSecret(field) {
            parts.append("\(field.name.rawValue.lowercased()):\(field.value)")
        }
        if parts.count > 1 { parts.sort() }
        // Most URLs have no query and no user info. Foundation takes a microsecond to say so.
        var (hasQuery, hasUserInfo) = (false, false)
        url.absoluteString.withUTF8Bytes { text in
            guard let start = text.baseAddress else { return }
            hasQuery = memchr(start, Int32(UInt8(ascii: "?")), text.count) != nil
            hasUserInfo = memchr(start, Int32(UInt8(ascii: "@")), text.count) != nil
        }
        if hasQuery, let query = url.query(percentEncoded: true) {
            let items = query.utf8.split(separator: UInt8(ascii: "&")).map { Substring($0) }
            parts += items.filter { redactor.isSecret(encodedItem: $0) }.map { "?\($0)" }.sorted()
        }
        if hasUserInfo {
            let userInfo = [url.user(percentEncoded: true), url.password(percentEncoded: true)]
            parts += userInfo.compactMap { $0 }.map { "@\($0)" }
        }
        return parts
    }
}
