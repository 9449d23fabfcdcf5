// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension HostileFixture {
    /// Every fixture; one line adds one.
    static let all = framing + heads + trailers + http2

    #if Curl && os(Linux)
    /// The fixtures for `CurlProvider`: without HTTP/2 if it does not use HTTP/2 over this libcurl.
    static let overCurl = all.filter { $0.version == .http1 || Libcurl.hasHTTP2 }
    #endif

    /// RFC 9112, section 6.3: where the body ends.
    private static let framing: [HostileFixture] = [
        .response(
            "two lengths",
            ["Content-Length: 10", "Content-Length: 5"],
            body: "helloworld",
            is: malformed,
            foundation: hello
        ),
        .response(
            "two lengths, the longer last",
            ["Content-Length: 5", "Content-Length: 10"],
            body: "helloworld",
            is: malformed,
            foundation: .response(200, "helloworld")
        ),
        .response(
            "a list of two lengths",
            ["Content-Length: 5, 10"],
            body: "helloworld",
            is: malformed,
            foundation: hello
        ),
        .response("one length twice", ["Content-Length: 5", "Content-Length: 5"], body: "hello", is: hello),
        .response("a list of one length", ["Content-Length: 5, 5"], body: "hello", is: hello),
        .response(
            "a list with an empty element",
            ["Content-Length: 5,"],
            body: "hello",
            is: malformed,
            foundation: hello
        ),
        .response(
            "a hexadecimal length",
            ["Content-Length: 0x5"],
            body: "hello",
            is: malformed,
            foundation: .response(200, "")
        ),
        .response("a length with a plus", ["Content-Length: +5"], body: "hello", is: malformed, foundation: hello),
        .response("a negative length", ["Content-Length: -5"], body: "hello", is: malformed),
        .response("a length with a letter", ["Content-Length: 5a"], body: "hello", is: malformed, foundation: hello),
        .response("an empty length", ["Content-Length:"], body: "hello", is: malformed),
        .response(
            "a length of 2^63",
            ["Content-Length: 9223372036854775808"],
            body: "hello",
            is: malformed,
            foundation: hello
        ),
        .response(
            "a length of 2^64 + 5",
            ["Content-Length: 18446744073709551621"],
            body: "hello",
            is: malformed,
            foundation: hello
        ),
        .response("a folded length", ["Content-Length: 5", " 0"], body: "hello", is: malformed, foundation: hello),
        .response("a blank before a length's colon", ["Content-Length : 5"], body: "hello", is: malformed),
        .response(
            "chunked and a length",
            ["Content-Length: 3", "Transfer-Encoding: chunked"],
            body: chunked,
            is: hello
        ),
        .response("a blank before chunked's colon", ["Transfer-Encoding : chunked"], body: chunked, is: malformed),
        // From 8.18 on, libcurl joins folded lines before it reads them.
        .response(
            "folded chunked",
            ["Transfer-Encoding:", " chunked"],
            body: chunked,
            is: CurlVersion.since("8.18", hello, before: malformed),
            foundation: .response(200, "5\r\nhello\r\n0\r\n\r\n")
        ),
        .response(
            "chunked with a fold after it",
            ["Transfer-Encoding: chunked", " x"],
            body: chunked,
            is: malformed,
            foundation: hello
        ),
        .response(
            "chunked after a vertical tab",
            ["Transfer-Encoding: \u{b}chunked"],
            body: chunked,
            is: malformed,
            foundation: lost
        ),
        .response(
            "an unknown transfer coding",
            ["Transfer-Encoding: x, chunked"],
            body: chunked,
            is: malformed,
            foundation: lost
        ),
        .response(
            "a chunk size of 0x5",
            ["Transfer-Encoding: chunked"],
            body: "0x5\r\nhello\r\n0\r\n\r\n",
            is: malformed,
            foundation: lost
        ),
        .response(
            "a chunk size of -5",
            ["Transfer-Encoding: chunked"],
            body: "-5\r\nhello\r\n0\r\n\r\n",
            is: malformed
        ),
        // RFC 9112, section 7.1, sets no limit. libcurl's limit is 16 digits, and 17 from 8.23 on.
        .response(
            "a chunk size of 17 digits",
            ["Transfer-Encoding: chunked"],
            body: "00000000000000005\r\nhello\r\n0\r\n\r\n",
            is: CurlVersion.since("8.23", hello, before: malformed)
        ),
        .response(
            "a chunk longer than its size",
            ["Transfer-Encoding: chunked"],
            body: "5\r\nhello!\r\n0\r\n\r\n",
            is: malformed
        ),
        .response("chunks without the last one", ["Transfer-Encoding: chunked"], body: "5\r\nhello\r\n", is: lost),
        .response("a body shorter than its length", ["Content-Length: 6"], body: "hello", is: lost),
    ]

    private static let heads: [HostileFixture] = [
        .raw("no byte", "", is: lost),
        .raw("HTTP/0.9", "hello", is: malformed),
        .raw(
            "a status line in lower case",
            "http/1.1 500 No\r\nContent-Length: 5\r\n\r\nhello",
            is: malformed,
            foundation: .response(500, "hello")
        ),
        .raw(
            "a status line in mixed case",
            "Http/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
            is: malformed,
            foundation: hello
        ),
        .raw("a head cut within a field", "HTTP/1.1 200 OK\r\nContent-Le", is: lost, foundation: .skipped("M14")),
        .response(
            "a folded first field",
            [" X: y", "Content-Length: 5"],
            body: "hello",
            is: malformed,
            foundation: lost
        ),
        .response(
            "a folded first field without colon",
            [" y", "Content-Length: 5"],
            body: "hello",
            is: malformed
        ),
        .response("a fold", ["X: y", " z", "Content-Length: 5"], body: "hello", is: hello),
        .response("a name with a blank", ["X y: z", "Content-Length: 5"], body: "hello", is: malformed),
        .response("an empty name", [": z", "Content-Length: 5"], body: "hello", is: malformed),
        .response("a field without colon", ["X", "Content-Length: 5"], body: "hello", is: malformed),
        .response(
            "a bare CR in a value",
            ["X: y\rContent-Length: 50", "Content-Length: 5"],
            body: "hello",
            is: malformed,
            foundation: hello
        ),
        .response("NUL in a value", ["X: y\u{0}z", "Content-Length: 5"], body: "hello", is: malformed),
        .response(
            "an escape in a value",
            ["X: \u{1b}[2J", "Content-Length: 5"],
            body: "hello",
            is: malformed,
            foundation: hello
        ),
        .response(
            "DEL in a value",
            ["X: \u{7f}", "Content-Length: 5"],
            body: "hello",
            is: malformed,
            foundation: hello
        ),
        .response("a tab in a value", ["X: y\tz", "Content-Length: 5"], body: "hello", is: hello),
        .response(
            "a bare CR in Location",
            ["Location: /a\rb", "Content-Length: 5"],
            body: "hello",
            is: malformed,
            foundation: hello
        ),
        .raw(
            "endless 103 heads",
            "",
            repeated: "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n",
            end: ok,
            is: malformed
        ),
        .raw(
            "endless fields",
            "HTTP/1.1 200 OK\r\n",
            repeated: "X: y\r\n",
            end: "Content-Length: 5\r\n\r\nhello",
            is: malformed
        ),
        .raw(
            "a field of 1 MiB",
            "HTTP/1.1 200 OK\r\nX: ",
            repeated: "aaaaaaaa",
            end: "\r\nContent-Length: 5\r\n\r\nhello",
            is: malformed
        ),
        .raw("a switch of protocols", "HTTP/1.1 101 No\r\nUpgrade: x\r\n\r\n", is: malformed, foundation: lost),
    ]

    private static let trailers: [HostileFixture] = [
        .raw(
            "endless trailers",
            chunkedStart,
            repeated: "X: y\r\n",
            end: "\r\n",
            is: malformed,
            foundation: .skipped("M14")
        ),
        .raw(
            "a trailer of 1 MiB",
            chunkedStart + "X: ",
            repeated: "aaaaaaaa",
            end: "\r\n\r\n",
            is: malformed,
            foundation: .skipped("M14")
        ),
    ]

    /// libcurl says of a connection that it gives up for an error of the framing only that it ended.
    private static let http2: [HostileFixture] =
        [
            .frames("HTTP/2: as it should be", [.head(), .data("hello")], is: hello),
            .frames(
                "HTTP/2: a body longer than its length",
                [.head([("content-length", "4")]), .data("hello")],
                is: malformed
            ),
            // Without the length, libcurl reports the reset as the end of the body (SECURITY.md). libcurl 7.88 drops a
            // response that it reads together with the reset (code 52). Otherwise, the length is not reached (code 18).
            .frames(
                "HTTP/2: half a body of a known length, and a reset without an error",
                [.head([("content-length", "10")]), .data("hello", isLast: false), .reset(1, code: 0)],
                is: lost
            ),
            .frames(
                "HTTP/2: a body shorter than its length",
                [.head([("content-length", "6")]), .data("hello")],
                is: malformed
            ),
            .frames(
                "HTTP/2: two lengths",
                [.head([("content-length", "5"), ("content-length", "6")]), .data("hello")],
                is: malformed
            ),
            .frames(
                "HTTP/2: a length with a plus",
                [.head([("content-length", "+5")]), .data("hello")],
                is: malformed
            ),
            .frames("HTTP/2: a name in upper case", [.head([("X", "y")]), .data("hello")], is: malformed),
            .frames("HTTP/2: a field of HTTP/1.1", [.head([("connection", "close")]), .data("hello")], is: malformed),
            // libcurl's nghttp2 1.67 drops such a field (seen; 1.64 resets the stream).
            .frames(
                "HTTP/2: a line break in a value",
                [.head([("x", "y\r\nz: 1")]), .data("hello")],
                is: CurlVersion.library("nghttp2").map { $0 >= "1.67" } ?? false ? hello : malformed
            ),
            .frames("HTTP/2: data before the head", [.data("hello")], is: malformed),
            .frames(
                "HTTP/2: a frame of 16 MiB",
                [HTTP2Frame(type: 0, stream: 1, payload: Array(repeating: 0, count: 0xFF_FFFF))],
                is: malformed
            ),
            .frames(
                "HTTP/2: a broken header block",
                [HTTP2Frame(type: 1, flags: 4, stream: 1, payload: [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])],
                is: malformed
            ),
        ] + connectionErrors.map { name, frames in .frames("HTTP/2: \(name)", frames, is: malformed) } + [
            .frames(
                "HTTP/2: endless 103 heads",
                [],
                repeated: [.head([("link", "x")], status: HTTP2Frame.earlyHints)],
                is: malformed
            )
        ]

    /// Each ends the connection with an error (RFC 9113, section 5.4.1), and the server stays silent from then on.
    private static let connectionErrors: [(String, [HTTP2Frame])] = [
        (
            "data with more padding than its frame",
            [.head(), HTTP2Frame(type: 0, flags: 8, stream: 1, payload: [9, 0])]
        ),
        ("padded data without a byte", [.head(), HTTP2Frame(type: 0, flags: 8, stream: 1)]),
        ("a head with more padding than its frame", [HTTP2Frame(type: 1, flags: 12, stream: 1, payload: [9, 0x88])]),
        ("data of the connection", [.head(), HTTP2Frame(type: 0, stream: 0, payload: [0])]),
        ("data of a stream that was not opened", [.head(), HTTP2Frame(type: 0, stream: 9, payload: [0])]),
        ("a head of the connection", [HTTP2Frame(type: 1, flags: 4, stream: 0, payload: [0x88])]),
        ("a head of a stream of the server", [HTTP2Frame(type: 1, flags: 4, stream: 2, payload: [0x88])]),
        ("a continuation of nothing", [.head(), HTTP2Frame(type: 9, flags: 4, stream: 1)]),
        (
            "data inside of a head",
            [HTTP2Frame(type: 1, stream: 1, payload: [0x88]), HTTP2Frame(type: 0, stream: 1, payload: [0])]
        ),
        ("a promise", [HTTP2Frame(type: 5, flags: 4, stream: 1, payload: [0, 0, 0, 2, 0x82])]),
        ("settings of one byte", [.head(), HTTP2Frame(type: 4, payload: [0])]),
        ("settings of a stream", [.head(), HTTP2Frame(type: 4, stream: 1)]),
        ("a window that is too large", [.head(), HTTP2Frame(type: 4, payload: [0, 4, 0xFF, 0xFF, 0xFF, 0xFF])]),
        ("an update of a window by nothing", [.head(), HTTP2Frame(type: 8, payload: [0, 0, 0, 0])]),
        ("updates of a window beyond its limit", [.head(), HTTP2Frame(type: 8, payload: [0x7F, 0xFF, 0xFF, 0xFF])]),
        ("a ping of one byte", [.head(), HTTP2Frame(type: 6, payload: [0])]),
        ("a reset of one byte", [.head(), HTTP2Frame(type: 3, stream: 1, payload: [0])]),
        ("a reset of the connection", [.head(), HTTP2Frame(type: 3, payload: [0, 0, 0, 0])]),
        ("a farewell of one byte", [.head(), HTTP2Frame(type: 7, payload: [0])]),
        ("a priority of one byte", [.head(), HTTP2Frame(type: 2, stream: 1, payload: [0])]),
    ]

    private static let malformed = Outcome.failure(.malformedResponse)
    private static let lost = Outcome.failure(.connectionLost)
    private static let hello = Outcome.response(200, "hello")
    private static let chunked = "5\r\nhello\r\n0\r\n\r\n"
    private static let chunkedStart = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
}
