// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension TransportCase {
    /// What comes back.
    static let responses: [TransportCase] = [
        TransportCase(
            "delivers status, header fields, body and URL",
            serve: saying(
                "HTTP/1.1 201 Created\r\nX-One: 1\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"
            )
        ) { probe in
            let request = probe.request(.get, "/here?x=1")
            let (response, body) = try await probe.send(request)
            try probe.demandEqual(response.status, 201, "the status")
            try probe.demandEqual(response.headers["x-one"], "1", "X-One")
            try probe.demandEqual(response.mediaType, MediaType("text", "plain"), "the media type")
            try probe.demandEqual(response.url, request.url, "the URL")
            try probe.demandEqual(String(decoding: body, as: UTF8.self), "hello", "the body")
        },
        TransportCase(
            "delivers an empty body",
            serve: saying("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        ) { probe in
            try probe.demandEqual(try await probe.send(probe.request()).body, Data(), "the body")
        },
        TransportCase(
            "ends a 204 and a 304 with their heads",
            serve: { connection in
                while let request = try connection.readRequest() {
                    let status = request.target == "/304" ? "304 Not Modified" : "204 No Content"
                    try connection.send("HTTP/1.1 \(status)\r\n\r\n")
                }
            },
            check: { probe in
                for path in ["/204", "/304", "/204"] {
                    let (response, body) = try await probe.send(probe.request(.get, path))
                    try probe.demandEqual(response.status.rawValue, path == "/304" ? 304 : 204, "the status")
                    try probe.demandEqual(body, Data(), "the body")
                }
            }
        ),
        TransportCase(
            "ends a HEAD with its head, whatever length it names",
            serve: { connection in
                while try connection.readRequest() != nil {
                    try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
                }
            },
            check: { probe in
                for _ in 0..<2 {
                    let (response, body) = try await probe.send(probe.request(.head))
                    try probe.demandEqual(response.headers["Content-Length"], "1000", "Content-Length")
                    try probe.demandEqual(body, Data(), "the body")
                }
            }
        ),
        TransportCase(
            "joins chunks, their extensions left out",
            serve: saying(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                "3;x=y\r\nabc\r\n",
                "1\r",
                "\nd\r\n",
                "0\r\n\r\n"
            )
        ) { probe in
            let body = try await probe.send(probe.request()).body
            try probe.demandEqual(String(decoding: body, as: UTF8.self), "abcd", "the body")
        },
        TransportCase(
            "leaves trailers out",
            serve: saying("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Late: 1\r\n\r\n")
        ) { probe in
            let (response, body) = try await probe.send(probe.request())
            try probe.demandEqual(response.headers["X-Late"], nil, "the trailer")
            try probe.demandEqual(String(decoding: body, as: UTF8.self), "ok", "the body")
        },
        TransportCase(
            "takes a body without a length up to the end of the connection",
            serve: saying("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", "all of ", "it")
        ) { probe in
            let body = try await probe.send(probe.request()).body
            try probe.demandEqual(String(decoding: body, as: UTF8.self), "all of it", "the body")
        },
        TransportCase(
            "receives a body of 3 MB whole",
            serve: { connection in
                guard let request = try connection.readRequest() else { return }
                let body = Data.counting(by: 7, byteCount: 3_000_000)
                try connection.send(LoopbackResponse(body: body), answering: request)
            },
            check: { probe in
                let body = try await probe.send(probe.request()).body
                let expected = Data.counting(by: 7, byteCount: 3_000_000)
                try probe.demand(body == expected, "another body of \(body.count) bytes arrived")
            }
        ),
        TransportCase(
            "skips the heads of 1xx responses",
            serve: saying(
                "HTTP/1.1 103 Early Hints\r\nX-Hint: 1\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
            )
        ) { probe in
            let (response, body) = try await probe.send(probe.request())
            try probe.demandEqual(response.status, 200, "the status")
            try probe.demandEqual(response.headers["X-Hint"], nil, "the hint's field")
            try probe.demandEqual(String(decoding: body, as: UTF8.self), "ok", "the body")
        },
        TransportCase(
            "accepts a status line without a reason",
            serve: saying("HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok")
        ) { probe in
            try probe.demandEqual(try await probe.send(probe.request()).response.status, 200, "the status")
        },
        TransportCase(
            "M9: keeps repeated Set-Cookie fields apart",
            serve: saying(
                "HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Expires=Wed, 21 Oct 2065 07:28:00 GMT; Path=/\r\n",
                "Set-Cookie: b=2\r\nContent-Length: 0\r\n\r\n"
            )
        ) { probe in
            let response = try await probe.send(probe.request()).response
            let expected = ["a=1; Expires=Wed, 21 Oct 2065 07:28:00 GMT; Path=/", "b=2"]
            try probe.demandEqual(response.headers.values("Set-Cookie"), expected, "Set-Cookie")
        },
        TransportCase("R1: fails a body over the limit", serve: sendEndlessly) { probe in
            var request = probe.request()
            request.delivery = .collected(upTo: 100_000)
            try await probe.demandFailure(of: .bodyTooLarge, sending: request)
        },
        TransportCase("closes the connection of a body over the limit", serve: sendEndlessly) { probe in
            var request = probe.request()
            request.delivery = .collected(upTo: 100_000)
            try await probe.demandFailure(of: .bodyTooLarge, sending: request)
            try await probe.server.connectionEnded(0)
        },
        TransportCase(
            "accepts a body as long as the limit",
            serve: saying("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        ) { probe in
            var request = probe.request()
            request.delivery = .collected(upTo: 5)
            try probe.demandEqual(try await probe.send(request).body.count, 5, "the body's length")
        },
    ]

    /// Statuses that other clients treat by themselves.
    static let statuses: [TransportCase] = [
        TransportCase(
            "delivers every status as a response",
            serve: { connection in
                while let request = try connection.readRequest() {
                    let status = request.target.dropFirst()
                    try connection.send("HTTP/1.1 \(status) Any\r\nContent-Length: 4\r\n\r\nbody")
                }
            },
            check: { probe in
                for status in [200, 226, 299, 300, 400, 404, 407, 408, 418, 429, 500, 503, 599] {
                    let (response, body) = try await probe.send(probe.request(.get, "/\(status)"))
                    try probe.demandEqual(response.status.rawValue, status, "the status")
                    try probe.demandEqual(String(decoding: body, as: UTF8.self), "body", "the body of \(status)")
                }
            }
        ),
        TransportCase("M7: delivers a redirect with its body and does not follow it", serve: redirect) { probe in
            let targets = [301, 302, 303, 307, 308].flatMap { status in
                [
                    "/\(status)/?/next", "/\(status)/?next", "/\(status)/?//127.0.0.2:1/x",
                    "/\(status)/?http://127.0.0.2:1/",
                ]
            }
            for target in targets {
                let (response, body) = try await probe.send(probe.request(.get, target))
                try probe.demand(response.status.isRedirection, "\(target) came back as \(response.status)")
                try probe.demandEqual(String(decoding: body, as: UTF8.self), "moved", "the body of \(target)")
            }
            try probe.demandEqual(probe.server.requests.map(\.target), targets, "what was asked")
        },
        TransportCase("R3: delivers a redirect whatever its location is", serve: redirect) { probe in
            for target in oddRedirects {
                let response = try await probe.send(probe.request(.get, target)).response
                try probe.demandEqual(response.status, 302, "the status of \(target)")
            }
            try probe.demandEqual(probe.server.requests.map(\.target), oddRedirects, "what was asked")
        },
        TransportCase("delivers the body of a redirect whose location is no URL", serve: redirect) { probe in
            for target in oddRedirects {
                let body = try await probe.send(probe.request(.get, target)).body
                try probe.demandEqual(String(decoding: body, as: UTF8.self), "moved", "the body of \(target)")
            }
        },
        TransportCase(
            "M6: delivers a 401 of every scheme with its body",
            serve: { connection in
                let challenges = [
                    "Basic realm=\"x\"", "Bearer", "Digest realm=\"x\", nonce=\"n\"", "Negotiate", "Odd y",
                ]
                while let request = try connection.readRequest() {
                    let field = Int(request.target.dropFirst()).map { "WWW-Authenticate: \(challenges[$0])\r\n" } ?? ""
                    try connection.send("HTTP/1.1 401 Unauthorized\r\n\(field)Content-Length: 7\r\n\r\nsign in")
                }
            },
            check: { probe in
                for path in ["/0", "/1", "/2", "/3", "/4", "/none"] {
                    let (response, body) = try await probe.send(probe.request(.get, path))
                    try probe.demandEqual(response.status, 401, "the status of \(path)")
                    try probe.demandEqual(String(decoding: body, as: UTF8.self), "sign in", "the body of \(path)")
                }
            }
        ),
    ]
    /// Answers `/STATUS/?LOCATION` by a redirect there, and `/STATUS/` by one without a location.
    @Sendable
    private static func redirect(_ connection: LoopbackConnection) throws {
        while let request = try connection.readRequest() {
            let parts = request.target.dropFirst().split(separator: "/?", maxSplits: 1)
            let location = parts.count == 2 ? "Location: \(parts[1].removingPercentEncoding ?? "")\r\n" : ""
            try connection.send("HTTP/1.1 \(parts[0].prefix(3)) Moved\r\n\(location)Content-Length: 5\r\n\r\nmoved")
        }
    }

    private static let oddRedirects = [
        "/302/", "/302/?//", "/302/?http://", "/302/?http://%5B", "/302/?http://%20bad", "/302/??q", "/302/?%23f",
        "/302/?file:///etc/passwd", "/302/?javascript:0", "/302/?http://a:b:c/", "/302/?%25",
        "/302/?http://127.0.0.1:99999/", "/302/?%C3%A4",
    ]

    /// Answers with a body that ends when the peer closes.
    @Sendable
    private static func sendEndlessly(_ connection: LoopbackConnection) throws {
        guard try connection.readRequest() != nil else { return }
        try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100000000000\r\n\r\n")
        let block = Data(count: 65_536)
        while true { try connection.send(block) }
    }
}
