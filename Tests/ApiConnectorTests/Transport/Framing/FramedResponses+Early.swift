// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension FramedResponse {
    /// A response to a request of which the server has read the head only (RFC 9112, section 9.3): it is the response.
    static let early: [FramedResponse] = [
        FramedResponse(
            "413 before the body is read",
            .raw("HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello"),
            isEarly: true,
            .status(413)
        ),
        FramedResponse(
            "200 before the body is read",
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
            isEarly: true,
            .hello
        ),
        FramedResponse(
            "100 and 403 before the body is read",
            .raw(
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello"
            ),
            isEarly: true,
            .status(403)
        ),
        FramedResponse(
            "417 before the body is read",
            .raw("HTTP/1.1 417 Expectation Failed\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello"),
            isEarly: true,
            .status(417)
        ),
        FramedResponse("the end before the body is read", .raw(""), isEarly: true, .lost),
    ]
}
