// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension FramedResponse {
    /// Responses that have no body, regardless of their fields (RFC 9112, section 6.3, items 1 and 2).
    ///
    /// Two lengths are refused even there: the reader that sees a body may be a proxy.
    static let bodiless: [FramedResponse] = [
        FramedResponse(
            "204 with a length",
            .raw("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello"),
            .status(204, "")
        ),
        FramedResponse(
            "204 that is chunked",
            .raw("HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
            .status(204, "")
        ),
        FramedResponse("204 without a length", .raw("HTTP/1.1 204 No Content\r\n\r\nhello"), .status(204, "")),
        FramedResponse(
            "304 with a length",
            .raw("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello"),
            .status(304, "")
        ),
        FramedResponse(
            "304 with a length and no body",
            .raw("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"),
            .status(304, "")
        ),
        FramedResponse(
            "205 with a length",
            .raw("HTTP/1.1 205 Reset Content\r\nContent-Length: 5\r\n\r\nhello"),
            .status(205)
        ),
        FramedResponse(
            "HEAD with a length",
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"),
            method: .head,
            .body("")
        ),
        FramedResponse(
            "HEAD with a body",
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
            method: .head,
            .body("")
        ),
        FramedResponse(
            "HEAD that is chunked",
            .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
            method: .head,
            .body("")
        ),
        FramedResponse("HEAD without a length", .raw("HTTP/1.1 200 OK\r\n\r\n"), method: .head, .body("")),
        FramedResponse(
            "HEAD with two lengths",
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"),
            method: .head,
            .malformed,
            foundation: .body("")
        ),
    ]
}
