// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension ConformanceCase {
    private static let make = CaseMaker(topic: .heads)

    /// Cases about status and header fields.
    static let heads: [ConformanceCase] = [
        make(
            "delivers status, header fields, body and URL",
            ["/here?x=1": .text("hello", 201, ["X-One": "1", "Content-Type": "text/plain"])]
        ) { probe in
            let request = probe.request("/here?x=1")
            let (response, body) = try await probe.send(request)
            try probe.demandEqual(response.status, 201, "the status")
            try probe.demandEqual(response.headers["X-One"], "1", "X-One")
            try probe.demandEqual(response.mediaType, MediaType("text", "plain"), "the media type")
            try probe.demandEqual(response.url, request.url, "the URL")
            try probe.demandEqual(String(decoding: body, as: UTF8.self), "hello", "the body")
        },
        make("names the request in its response") { probe in
            let response = try await probe.send(probe.request("/this", .delete)).response
            try probe.demandEqual(response.request.method, .delete, "the request's method")
            try probe.demandEqual(response.request.url, probe.side.url("/this"), "the request's URL")
        },
        make(
            "finds a header field by name in any case",
            .each(.text("ok", 200, ["x-lower": "1", "X-UPPER": "2"]))
        ) { probe in
            let headers = try await probe.send(probe.request()).response.headers
            try probe.demandEqual(headers["X-Lower"], "1", "X-Lower")
            try probe.demandEqual(headers["x-upper"], "2", "x-upper")
        },
        make("delivers a header field without a value", .each(.text("ok", 200, ["X-Empty": "", "X-After": "1"]))) {
            probe in
            let headers = try await probe.send(probe.request()).response.headers
            try probe.demandEqual(headers.values("X-Empty"), [""], "X-Empty")
            try probe.demandEqual(headers.values("X-After"), ["1"], "X-After")
        },
        make("delivers commas, colons and quotes in values unchanged", .each(.text("ok", 200, punctuated))) {
            probe in
            let headers = try await probe.send(probe.request()).response.headers
            for field in punctuated {
                try probe.demandEqual(headers.values(field.name), [field.value], "\(field.name)")
            }
        },
        make.wire("trims the whitespace around a value", .each(.wire(blankHead))) { probe in
            let headers = try await probe.send(probe.request()).response.headers
            try probe.demandEqual(headers["X-One"], "a  b", "X-One")
        },
        make("delivers a value in UTF-8", .each(.text("ok", 200, ["X-Name": "grün"]))) { probe in
            let headers = try await probe.send(probe.request()).response.headers
            try probe.demandEqual(headers["X-Name"], "grün", "X-Name")
        },
        make("delivers a whole value of 8,000 bytes", .each(.text("ok", 200, ["X-Long": longValue]))) { probe in
            let headers = try await probe.send(probe.request()).response.headers
            try probe.demand(headers["X-Long"] == longValue, "a different value arrived")
        },
        make("delivers every value of a repeated header field, in order", .each(.text("ok", 200, repeated))) { probe in
            let headers = try await probe.send(probe.request()).response.headers
            let values = headers.values("X-Twice").flatMap { $0.split(separator: ",") }
            let trimmed = values.map { $0.trimmingCharacters(in: .whitespaces) }
            try probe.demandEqual(trimmed, ["b", "a", "c"], "the values of X-Twice")
        },
        make("keeps repeated header fields separate", .each(.text("ok", 200, repeated))) { probe in
            let headers = try await probe.send(probe.request()).response.headers
            try probe.demandEqual(headers.values("X-Twice"), ["b", "a", "c"], "X-Twice")
        },
        make("keeps repeated Set-Cookie fields separate", .each(.text("ok", 200, cookies))) { probe in
            let headers = try await probe.send(probe.request()).response.headers
            try probe.demandEqual(headers.values("Set-Cookie"), cookies.values("Set-Cookie"), "Set-Cookie")
        },
        make("delivers header fields in their order", .each(.text("ok", 200, ordered))) { probe in
            let headers = try await probe.send(probe.request()).response.headers
            let seen = headers.map(\.name.rawValue).filter { $0.hasPrefix("X-") && $0.count == 3 }
            try probe.demandEqual(seen, ordered.map(\.name.rawValue), "the order")
        },
        make.wire(
            "skips 1xx responses",
            .each(
                .wire(
                    "HTTP/1.1 103 Early Hints\r\nX-Hint: 1\r\n\r\n",
                    "HTTP/1.1 103 Early Hints\r\nX-Hint: 2\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
                )
            )
        ) { probe in
            let (response, body) = try await probe.send(probe.request())
            try probe.demandEqual(response.status, 200, "the status")
            try probe.demandEqual(response.headers["X-Hint"], nil, "the hint's field")
            try probe.demandEqual(String(decoding: body, as: UTF8.self), "ok", "the body")
        },
        make.wire(
            "accepts a status line without a reason phrase",
            .each(.wire("HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok"))
        ) { probe in
            try probe.demandEqual(try await probe.send(probe.request()).response.status, 200, "the status")
        },
        make.wire(
            "accepts a head that arrives byte by byte",
            .each(PeerAnswer(steps: pieces + [.lost]))
        ) { probe in
            let (response, body) = try await probe.send(probe.request())
            try probe.demandEqual(response.headers["X-One"], "1", "X-One")
            try probe.demandEqual(String(decoding: body, as: UTF8.self), "ok", "the body")
        },
        make.wire(
            "ignores trailers",
            .each(.wire("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Late: 1\r\n\r\n"))
        ) { probe in
            let (response, body) = try await probe.send(probe.request())
            try probe.demandEqual(response.headers["X-Late"], nil, "the trailer")
            try probe.demandEqual(String(decoding: body, as: UTF8.self), "ok", "the body")
        },
    ]

    private static let punctuated: HTTPHeaders = [
        "X-Date": "Wed, 21 Oct 2065 07:28:00 GMT", "X-Quoted": #""a, b"; c="d:e""#, "X-Odd": "=,;:/?@[]{}~|",
    ]

    private static let blankHead = "HTTP/1.1 200 OK\r\nX-One: \t a  b \t\r\nContent-Length: 2\r\n\r\nok"

    private static let pieces = "HTTP/1.1 200 OK\r\nX-One: 1\r\nContent-Length: 2\r\n\r\nok".unicodeScalars.map {
        PeerAnswer.Step.wire(String($0))
    }

    private static let longValue = String(repeating: "0123456789", count: 800)

    private static let repeated: HTTPHeaders = ["X-Twice": "b", "X-Other": "1", "X-Twice": "a", "X-Twice": "c"]

    private static let ordered: HTTPHeaders = ["X-3": "1", "X-1": "1", "X-4": "1", "X-2": "1", "X-6": "1", "X-5": "1"]

    private static let cookies: HTTPHeaders = [
        "Set-Cookie": "a=1; Expires=Wed, 21 Oct 2065 07:28:00 GMT; Path=/", "Set-Cookie": "b=2",
    ]
}
