// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension FramedResponse {
    /// A connection that ends too early (RFC 9112, section 8).
    static let cuts: [FramedResponse] = [
        FramedResponse("the end within the status line", .raw("HTTP/1.1 20"), .lost, foundation: .endsTheProcess),
        FramedResponse(
            "the end after the status line",
            .raw("HTTP/1.1 200 OK\r\n"),
            .lost,
            foundation: .endsTheProcess
        ),
        FramedResponse(
            "the end before the empty line",
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"),
            .lost,
            foundation: .endsTheProcess
        ),
        FramedResponse(
            "the end within the empty line",
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r"),
            .lost,
            foundation: .endsTheProcess
        ),
        FramedResponse("the end after the head", .raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), .lost),
        FramedResponse("the end within the body", .length("5", body: "hel"), .lost),
        FramedResponse("the end before a body of 0", .raw("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .body("")),
    ]
}
