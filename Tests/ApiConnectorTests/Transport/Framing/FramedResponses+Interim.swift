// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension FramedResponse {
    /// Heads of status 1xx (RFC 9110, section 15.2).
    ///
    /// They have no body, and their fields are not the response's. The client did not ask for another protocol.
    static let interim: [FramedResponse] = [
        FramedResponse(
            "100 before the response",
            .raw("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
            .hello
        ),
        FramedResponse(
            "102 before the response",
            .raw("HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
            .hello
        ),
        FramedResponse(
            "103 with a field",
            .raw("HTTP/1.1 103 Early Hints\r\nX: early\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
            .hello
        ),
        FramedResponse(
            "an unknown 1xx",
            .raw("HTTP/1.1 199 Odd\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
            .hello
        ),
        FramedResponse(
            "three of them",
            .raw(
                "HTTP/1.1 100 A\r\n\r\nHTTP/1.1 102 B\r\n\r\nHTTP/1.1 103 C\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
            ),
            .hello
        ),
        FramedResponse(
            "100 with a length",
            .raw("HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
            .hello
        ),
        FramedResponse(
            "100 that is chunked",
            .raw(
                "HTTP/1.1 100 Continue\r\nTransfer-Encoding: chunked\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
            ),
            .hello
        ),
        FramedResponse("100 and no response", .raw("HTTP/1.1 100 Continue\r\n\r\n"), .lost),
        FramedResponse("100 and something else", .raw("HTTP/1.1 100 Continue\r\n\r\nhello"), .malformed),
        FramedResponse(
            "101 with the protocol's bytes",
            .raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n\u{81}\u{5}hello"),
            .malformed,
            foundation: .status(101, "�\u{05}hello")
        ),
        FramedResponse(
            "100 of HTTP/1.0",
            .raw("HTTP/1.0 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
            .hello
        ),
    ]
}
