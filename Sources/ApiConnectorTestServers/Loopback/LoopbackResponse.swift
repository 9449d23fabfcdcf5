// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// A well-formed response, for tests that need no special bytes.
package struct LoopbackResponse: Sendable {
    package var status: Int
    package var reason: String

    /// The header fields in the order in which they are sent.
    package var headers: [(name: String, value: String)]

    package var body: Data

    /// Makes a response.
    ///
    /// - Parameters:
    ///   - status: The status code; 200 by default.
    ///   - reason: The reason phrase; by default the usual phrase, or none for a rare status.
    ///   - headers: The header fields. `Content-Length` is added, unless a field already defines the end of the body.
    ///   - body: The body; empty by default. It is not sent if HTTP does not allow a body.
    package init(
        status: Int = 200,
        reason: String? = nil,
        headers: [(name: String, value: String)] = [],
        body: Data = Data()
    ) {
        self.status = status
        self.reason = reason ?? usualReasons[status] ?? ""
        self.headers = headers
        self.body = body
    }

    /// Returns a response with JSON text as its body.
    package static func json(_ text: String, status: Int = 200) -> LoopbackResponse {
        let headers = [(name: "Content-Type", value: "application/json")]
        return LoopbackResponse(status: status, headers: headers, body: Data(text.utf8))
    }

    /// Returns a response with plain UTF-8 text as its body.
    package static func text(_ text: String, status: Int = 200) -> LoopbackResponse {
        let headers = [(name: "Content-Type", value: "text/plain; charset=utf-8")]
        return LoopbackResponse(status: status, headers: headers, body: Data(text.utf8))
    }

    /// Returns a response of this status with an empty body.
    package static func status(_ status: Int) -> LoopbackResponse {
        LoopbackResponse(status: status)
    }

    /// Returns the bytes that answer a request of this method (RFC 9112, section 6.3).
    package func bytes(answering method: String) -> Data {
        let hasNoContent = status == 204 || status == 304 || (100..<200).contains(status)
        var fields = headers
        let isFramed = fields.contains { ["content-length", "transfer-encoding"].contains($0.name.lowercased()) }
        if !isFramed, !hasNoContent { fields.append((name: "Content-Length", value: "\(body.count)")) }

        var head = "HTTP/1.1 \(status) \(reason)\r\n"
        for field in fields { head += "\(field.name): \(field.value)\r\n" }
        return Data((head + "\r\n").utf8) + (hasNoContent || method == "HEAD" ? Data() : body)
    }

    var closesConnection: Bool {
        headers.contains { $0.name.lowercased() == "connection" && $0.value.lowercased() == "close" }
    }
}

private let usualReasons = [
    200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 206: "Partial Content",
    301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
    307: "Temporary Redirect", 308: "Permanent Redirect",
    400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    409: "Conflict", 410: "Gone", 412: "Precondition Failed", 413: "Content Too Large",
    417: "Expectation Failed", 422: "Unprocessable Content", 429: "Too Many Requests",
    500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
    504: "Gateway Timeout",
]
