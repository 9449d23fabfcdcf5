// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiResponse {
    /// Makes a response from a session's response.
    ///
    /// Foundation stores the fields in a dictionary. Their order is lost, so they are sorted by name, and repeated
    /// fields are joined with commas. Only `Set-Cookie` is split again (M9).
    init(to request: ApiRequest, head: HTTPURLResponse, body: ResponseBody) {
        var headers = HTTPHeaders()
        let fields = head.allHeaderFields.compactMap { key, value in
            (key as? String).flatMap { key in (value as? String).map { (key, $0) } }
        }
        for (key, value) in fields.sorted(by: { $0.0 < $1.0 }) {
            let name = HTTPHeaders.Name(key)
            if name == .setCookie {
                for cookie in SetCookie.fields(in: value) { headers.append(name, cookie) }
            } else {
                headers.append(name, value)
            }
        }
        self.init(
            to: request,
            status: HTTPStatus(rawValue: head.statusCode),
            headers: headers,
            body: body,
            url: head.url
        )
    }
}
