// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension FramedResponse {
    /// Trailers (RFC 9112, section 7.1.2) are always dropped.
    ///
    /// libcurl reads a line without a colon, and one with NUL, as an error; from 8.18 on, also a folded line.
    static let trailers: [FramedResponse] = [
        FramedResponse("a trailer", .trailers("X: y\r\n\r\n"), .hello, foundation: .endsTheProcess),
        FramedResponse(
            "a trailer like a length",
            .trailers("Content-Length: 50\r\n\r\n"),
            .hello,
            foundation: .endsTheProcess
        ),
        FramedResponse(
            "a trailer like a transfer coding",
            .trailers("Transfer-Encoding: chunked\r\n\r\n"),
            .hello,
            foundation: .endsTheProcess
        ),
        FramedResponse(
            "a trailer like a status line",
            .trailers("HTTP/1.1 500 No\r\n\r\n"),
            .malformed,
            foundation: .endsTheProcess
        ),
        FramedResponse("a trailer without a colon", .trailers("X\r\n\r\n"), .malformed, foundation: .endsTheProcess),
        FramedResponse(
            "a trailer that is folded",
            .trailers("X: y\r\n z\r\n\r\n"),
            .malformed,
            foundation: .endsTheProcess
        ),
        FramedResponse(
            "a trailer that starts with a blank",
            .trailers(" X: y\r\n\r\n"),
            .malformed,
            foundation: .endsTheProcess
        ),
        FramedResponse("a trailer with NUL", .trailers("X: \0\r\n\r\n"), .malformed, foundation: .endsTheProcess),
        FramedResponse("a trailer that ends in LF", .trailers("X: y\n\r\n"), .hello, foundation: .endsTheProcess),
        FramedResponse("the end within a trailer", .trailers("X: y"), .lost, foundation: .endsTheProcess),
        FramedResponse(
            "a trailer like Set-Cookie",
            .trailers("Set-Cookie: a=b\r\n\r\n"),
            .hello,
            foundation: .endsTheProcess
        ),
        FramedResponse(
            "a trailer after which something comes",
            .trailers("X: y\r\n\r\nworld"),
            .hello,
            foundation: .endsTheProcess
        ),
    ]
}
