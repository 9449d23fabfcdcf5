// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension FramedResponse {
    /// `Content-Length` (RFC 9112, section 6.3, items 5 to 8): digits, or a list of the same number.
    static let lengths: [FramedResponse] = [
        FramedResponse("no length", .raw("HTTP/1.1 200 OK\r\n\r\nhello"), .hello),
        FramedResponse("no length in HTTP/1.0", .raw("HTTP/1.0 200 OK\r\n\r\nhello"), .hello),
        FramedResponse(
            "no length, and kept alive",
            .raw("HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\nhello"),
            .hello
        ),
        FramedResponse("a length of 0, and a body", .length("0"), .body("")),
        FramedResponse("a body longer than its length", .length("5", body: "hello, world"), .hello),
        FramedResponse(
            "a response after the response",
            .length("5", body: "helloHTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"),
            .hello
        ),
        FramedResponse("zeros before a length", .length("00000000000000000005"), .hello),
        FramedResponse("a blank after a length", .length("5 "), .hello),
        FramedResponse("a tab before a length", .length("\t5"), .hello),
        FramedResponse(
            "a name in upper case",
            .raw("HTTP/1.1 200 OK\r\nCONTENT-LENGTH: 5\r\n\r\nhello, world"),
            .hello
        ),
        FramedResponse("the same length with a zero before it", .length("5", then: "Content-Length: 05"), .hello),
        FramedResponse("a list of three lengths", .length("5, 5,\t5"), .hello),
        FramedResponse("a list that starts with a comma", .length(",5"), .malformed),
        FramedResponse("lengths apart by a blank", .length("5 5"), .malformed, foundation: .hello),
        FramedResponse("a length with a parameter", .length("5;q=1"), .malformed, foundation: .hello),
        FramedResponse("a length with a point", .length("5.0"), .malformed, foundation: .hello),
        FramedResponse("a length with an exponent", .length("5e0"), .malformed, foundation: .hello),
        FramedResponse("a quoted length", .length("\"5\""), .malformed),
        FramedResponse("a length of minus 0", .length("-0"), .malformed),
        FramedResponse("a length in Arabic digits", .length("\u{d9}\u{a5}"), .malformed),
        FramedResponse("a length with NUL", .length("5\0"), .malformed),
        FramedResponse(
            "a length with a separator",
            .length("1_0", body: "helloworld"),
            .malformed,
            foundation: .body("h")
        ),
        FramedResponse("a length of 2^63 - 1", .length("9223372036854775807"), .lost, foundation: .endsTheProcess),
        FramedResponse(
            "a length of 2^63 - 1, and 0",
            .length("9223372036854775807", then: "Content-Length: 0"),
            .malformed,
            foundation: .body("")
        ),
        FramedResponse("a field like a length", .fields(["Content_Length: 50"]), .hello),
        FramedResponse(
            "a length after a no-break space",
            .raw("HTTP/1.1 200 OK\r\nContent-Length:\u{a0}5\r\n\r\nhello"),
            .malformed
        ),
    ]
}
