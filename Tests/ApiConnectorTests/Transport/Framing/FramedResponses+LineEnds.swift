// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension FramedResponse {
    /// How lines end (RFC 9112, section 2.2).
    ///
    /// LF alone ends a line, as the section allows. A CR anywhere else may end a line for another reader.
    static let lineEnds: [FramedResponse] = [
        FramedResponse(
            "every line ends in LF",
            .raw("HTTP/1.1 200 OK\nContent-Length: 5\n\nhello"),
            .hello,
            foundation: .malformed
        ),
        FramedResponse(
            "the status line ends in LF",
            .raw("HTTP/1.1 200 OK\nContent-Length: 5\r\n\r\nhello"),
            .hello,
            foundation: .malformed
        ),
        FramedResponse(
            "a field ends in LF",
            .raw("HTTP/1.1 200 OK\r\nX: y\nContent-Length: 5\r\n\r\nhello"),
            .hello(x: "y"),
            foundation: .malformed
        ),
        FramedResponse(
            "the head ends in LF",
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\nhello"),
            .hello,
            foundation: .malformed
        ),
        FramedResponse(
            "the head ends in LF CR LF",
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 5\n\r\nhello"),
            .hello,
            foundation: .malformed
        ),
        FramedResponse("every line ends in CR", .raw("HTTP/1.1 200 OK\rContent-Length: 5\r\rhello"), .lost),
        FramedResponse("a field ends in CR CR LF", .fields(["X: y\r"]), .malformed, foundation: .hello),
        FramedResponse(
            "the head ends in CR CR LF",
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\r\nhello"),
            .malformed,
            foundation: .hello
        ),
        FramedResponse(
            "the status line ends in CR CR LF",
            .raw("HTTP/1.1 200 OK\r\r\nContent-Length: 5\r\n\r\nhello"),
            .malformed,
            foundation: .hello
        ),
        FramedResponse(
            "a line starts with CR",
            .fields(["\rX: y"]),
            .malformed,
            foundation: .body("Content-Length: 5\r\n\r\nhello")
        ),
        // From 8.18 on, libcurl joins the line to the field before it, so that the head has no end.
        FramedResponse(
            "a line of blanks ends the head",
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n  \r\nhello"),
            CurlVersion.since("8.18", .lost, before: .malformed),
            foundation: .lost
        ),
    ]
}
