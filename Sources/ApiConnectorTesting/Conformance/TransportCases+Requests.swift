// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension TransportCase {
    /// What reaches the server.
    static let requests: [TransportCase] = [
        TransportCase("sends method, target and header fields as they are", serve: answerAll) { probe in
            var request = probe.request(.get, "/a%2Fb/c?q=1%2B2&flag")
            request.headers = ["X-One": "1", "x-two": "ü", "Accept": "application/json"]
            _ = try await probe.send(request)
            let seen = try await probe.server.request(0)
            try probe.demandEqual(seen.method, "GET", "the method")
            try probe.demandEqual(seen.target, "/a%2Fb/c?q=1%2B2&flag", "the target")
            try probe.demandEqual(seen.header("X-One"), "1", "X-One")
            try probe.demandEqual(seen.header("X-Two"), "ü", "x-two")
            try probe.demandEqual(seen.headers(named: "Accept"), ["application/json"], "Accept")
        },
        TransportCase("sends every method under its name", serve: answerAll) { probe in
            let methods: [HTTPMethod] = [.get, .post, .put, .patch, .delete, .options, "PROPFIND"]
            for (number, method) in methods.enumerated() {
                _ = try await probe.send(probe.request(method))
                try probe.demandEqual(try await probe.server.request(number).method, method.rawValue, "the method")
            }
        },
        TransportCase("sends a body with its length and type", serve: answerAll) { probe in
            for (number, method) in [HTTPMethod.post, .put, .patch, .delete].enumerated() {
                var request = probe.request(method, body: .data(Data("{\"a\":1}".utf8), mediaType: .json))
                request.headers["Content-Type"] = "application/json"
                _ = try await probe.send(request)
                let seen = try await probe.server.request(number)
                try probe.demandEqual(String(decoding: seen.body, as: UTF8.self), "{\"a\":1}", "the body")
                try probe.demandEqual(seen.header("Content-Length"), "7", "Content-Length")
                try probe.demandEqual(seen.headers(named: "Content-Type"), ["application/json"], "Content-Type")
            }
        },
        TransportCase("R6: never calls a body a form that was not called one", serve: answerAll) { probe in
            let body = Data([0, 1, 2, 255])
            _ = try await probe.send(probe.request(.post, body: .data(body)))
            let seen = try await probe.server.request(0)
            try probe.demandEqual(seen.headers(named: "Content-Type"), ["application/octet-stream"], "Content-Type")
            try probe.demandEqual(seen.body, body, "the body")
        },
        TransportCase("sends a body of 3 MB whole", serve: answerAll) { probe in
            let body = Data.counting(by: 31, byteCount: 3_000_000)
            _ = try await probe.send(probe.request(.post, body: .data(body)))
            try probe.demand(try await probe.server.request(0).body == body, "another body arrived")
        },
        TransportCase("sends a POST without a body with length 0", serve: answerAll) { probe in
            _ = try await probe.send(probe.request(.post))
            let seen = try await probe.server.request(0)
            try probe.demandEqual(seen.header("Content-Length"), "0", "Content-Length")
            try probe.demandEqual(seen.header("Content-Type"), nil, "Content-Type")
        },
        TransportCase("sends cookies that it is given, and none by itself") { connection in
            while let request = try connection.readRequest() {
                let headers = [(name: "Set-Cookie", value: "kept=1")]
                try connection.send(LoopbackResponse(headers: headers), answering: request)
            }
        } check: { probe in
            _ = try await probe.send(probe.request())
            var request = probe.request()
            request.headers["Cookie"] = "mine=2"
            _ = try await probe.send(request)
            try probe.demandEqual(try await probe.server.request(1).headers(named: "Cookie"), ["mine=2"], "Cookie")
        },
        TransportCase("refuses a header field with a line break and sends nothing", serve: answerAll) { probe in
            var request = probe.request()
            request.headers["X-Bad"] = "a\r\nX-Forged: b"
            try await probe.demandFailure(of: .invalidRequest, sending: request)
            _ = try await probe.send(probe.request(.get, "/after"))
            try probe.demandEqual(probe.server.requests.map(\.target), ["/after"], "what was asked")
        },
        TransportCase("refuses what is no HTTP URL", serve: answerAll) { probe in
            for text in ["file:///etc/passwd", "ftp://127.0.0.1/", "http:///path"] {
                guard let url = URL(string: text) else { continue }
                try await probe.demandFailure(of: .invalidRequest, sending: ApiRequest(url: url))
            }
        },
        TransportCase("uses a connection again", serve: answerAll) { probe in
            var pace = Pace()
            for _ in 0..<3 {
                _ = try await probe.send(probe.request())
                pace.step()
            }
            guard pace.keepsConnections else { return }
            try probe.demandEqual(probe.server.connectionCount, 1, "the number of connections")
        },
    ]

    /// Answers each request with 200 and a short body.
    @Sendable
    static func answerAll(_ connection: LoopbackConnection) throws {
        while let request = try connection.readRequest() {
            try connection.send(.text("ok"), answering: request)
        }
    }

    /// A server that reads one request and then says this, byte for byte, and closes.
    static func saying(_ text: String...) -> @Sendable (LoopbackConnection) throws -> Void {
        { connection in
            guard try connection.readRequest() != nil else { return }
            for part in text { try connection.send(part) }
        }
    }
}
