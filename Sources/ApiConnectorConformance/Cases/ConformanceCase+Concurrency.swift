// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTestServers

extension ConformanceCase {
    private static let make = CaseMaker(topic: .concurrency)

    /// Cases about several requests, concurrent or in sequence.
    static let concurrency: [ConformanceCase] = [
        make("returns each of many concurrent calls its own response", PeerAnswers(numbered)) { probe in
            try await withThrowingTaskGroup(of: (String, String).self) { group in
                for target in numbered.keys {
                    group.addTask { (target, try await probe.text(probe.request(target))) }
                }
                for try await (target, body) in group { try probe.demandEqual(body, "body of \(target)", "the body") }
            }
            try probe.demandEqual(probe.targets.sorted(), numbered.keys.sorted(), "the requests")
        },
        make("sends each of many concurrent bodies to its own target") { probe in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<16 {
                    group.addTask {
                        let body = RequestBody.text(String(repeating: "\(number) ", count: 5_000))
                        _ = try await probe.send(probe.request("/\(number)", .post, body))
                    }
                }
                try await group.waitForAll()
            }
            for request in probe.log.requests {
                let body = String(repeating: "\(request.target.dropFirst()) ", count: 5_000)
                try probe.demandBytes(request.body, Data(body.utf8), "the body of \(request.target)")
            }
            try probe.demandEqual(probe.log.requests.count, 16, "the number of requests")
        },
        make("serves other calls while one call waits", ["/held": PeerAnswer(steps: held)]) { probe in
            async let held = probe.text(probe.request("/held"))
            try await probe.log.arrival(0)
            for _ in 0..<5 { try probe.demandEqual(try await probe.text(probe.request("/beside")), "ok", "the body") }
            probe.side.release(0)
            try probe.demandEqual(try await held, "late", "the body of the waiting call")
        },
        make("serves other calls while a stream is not read", ["/endless": endless]) { probe in
            let response = try await probe.stream("/endless")
            for _ in 0..<5 { try probe.demandEqual(try await probe.text(probe.request("/beside")), "ok", "the body") }
            withExtendedLifetime(response) {}
        },
        make("never answers from a cache", .each(.text("ok", 200, lasting))) { probe in
            for _ in 0..<3 { try probe.demandEqual(try await probe.text(probe.request("/kept")), "ok", "the body") }
            try probe.demandEqual(probe.targets, ["/kept", "/kept", "/kept"], "the requests")
            let conditions = probe.log.requests.flatMap { $0.values("If-None-Match") + $0.values("If-Modified-Since") }
            try probe.demandEqual(conditions, [], "the conditional header fields")
        },
        make.wire("reuses a connection") { probe in
            var pace = Pace()
            for (method, body) in [
                (HTTPMethod.get, RequestBody.empty), (.post, .text("x")), (.head, .empty), (.get, .empty),
            ] {
                _ = try await probe.send(probe.request("/", method, body))
                pace.step()
            }
            guard pace.keepsConnections else { return }
            try probe.demandEqual(try probe.server().connectionCount, 1, "the number of connections")
        },
    ]

    private static let numbered = Dictionary(
        uniqueKeysWithValues: (0..<16).map { ("/\($0)", PeerAnswer.text("body of /\($0)")) }
    )

    private static let held: [PeerAnswer.Step] = [.hold(0), .head(length: 4), .text("late")]

    private static let lasting: HTTPHeaders = [
        "Cache-Control": "public, max-age=3600", "ETag": "\"1\"", "Last-Modified": "Wed, 21 Oct 2015 07:28:00 GMT",
    ]

    private static let endless = PeerAnswer.steps(.head(length: 2_000_000_000), .endless)
}
