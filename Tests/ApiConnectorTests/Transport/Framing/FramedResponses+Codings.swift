// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension FramedResponse {
    /// `Transfer-Encoding` (RFC 9112, section 6.1): `chunked` once, or `identity`, the coding that changes nothing.
    static let codings: [FramedResponse] = [
        FramedResponse("chunked in mixed case", .coding(" ChUnKeD"), .hello),
        FramedResponse("chunked without a blank", .coding("chunked"), .hello, foundation: .malformed),
        FramedResponse("chunked after a tab", .coding("\tchunked"), .hello),
        FramedResponse("chunked with a blank after it", .coding(" chunked "), .hello),
        FramedResponse("chunked after a comma", .coding(" ,chunked"), .hello),
        FramedResponse("chunked before a comma", .coding(" chunked,"), .hello),
        FramedResponse("chunked twice", .coding(" chunked, chunked"), .malformed, foundation: .hello),
        FramedResponse("chunked with a parameter", .coding(" chunked;q=1"), .malformed, foundation: .lost),
        FramedResponse("quoted chunked", .coding(" \"chunked\""), .malformed, foundation: .lost),
        FramedResponse("chunked with a letter before it", .coding(" xchunked"), .malformed, foundation: .lost),
        FramedResponse("chunked with a letter after it", .coding(" chunkedx"), .malformed, foundation: .lost),
        FramedResponse("chunked with NUL", .coding(" chunked\0"), .malformed),
        FramedResponse("chunked after a form feed", .coding(" \u{c}chunked"), .malformed, foundation: .lost),
        FramedResponse("chunked after a no-break space", .coding(" \u{a0}chunked"), .malformed),
        FramedResponse("identity", .coding(" identity", body: "hello"), .hello),
        // From 8.4 to 8.12, libcurl takes the chunks for the body.
        FramedResponse("identity and chunked", .coding(" identity, chunked"), .malformed, foundation: .hello),
        FramedResponse(
            "identity and chunked in two fields",
            .coding(" identity\r\nTransfer-Encoding: chunked"),
            .malformed,
            foundation: .hello
        ),
        FramedResponse(
            "chunked and identity in two fields",
            .coding(" chunked\r\nTransfer-Encoding: identity"),
            .malformed,
            foundation: .hello
        ),
        FramedResponse("gzip and chunked", .coding(" gzip, chunked"), .malformed, foundation: .lost),
        FramedResponse("gzip", .coding(" gzip", body: "hello"), .malformed, foundation: .lost),
        FramedResponse("an empty coding", .coding("", body: "hello"), .hello),
        FramedResponse(
            "chunked in HTTP/1.0",
            .raw("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
            .hello
        ),
        FramedResponse(
            "a field like a transfer coding",
            .raw("HTTP/1.1 200 OK\r\nTransfer_Encoding: chunked\r\nContent-Length: 5\r\n\r\nhello"),
            .hello
        ),
        // Section 6.3: libcurl ignores the length, so that half a body would be whole.
        FramedResponse(
            "identity and a length",
            .coding(" identity\r\nContent-Length: 5", body: "hello, world"),
            .malformed
        ),
        FramedResponse(
            "identity and half a body",
            .coding(" identity\r\nContent-Length: 10", body: "hello"),
            .malformed
        ),
        FramedResponse("an empty coding and half a body", .coding("\r\nContent-Length: 10", body: "hello"), .malformed),
        FramedResponse("a comma and half a body", .coding(" ,\r\nContent-Length: 10", body: "hello"), .malformed),
        FramedResponse(
            "identity twice and half a body",
            .coding(" identity, identity\r\nContent-Length: 10", body: "hello"),
            .malformed
        ),
        FramedResponse(
            "half a body, and identity after its length",
            .length("10", then: "Transfer-Encoding: identity"),
            .malformed
        ),
        FramedResponse(
            "half a body, and an empty coding after its length",
            .length("10", then: "Transfer-Encoding:"),
            .malformed
        ),
        FramedResponse(
            "half a body in HTTP/1.0 with identity",
            .raw("HTTP/1.0 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 10\r\n\r\nhello"),
            .malformed
        ),
        FramedResponse(
            "a content coding of chunked",
            .raw("HTTP/1.1 200 OK\r\nContent-Encoding: chunked\r\nContent-Length: 5\r\n\r\nhello"),
            .malformed,
            foundation: .lost
        ),
    ]
}
