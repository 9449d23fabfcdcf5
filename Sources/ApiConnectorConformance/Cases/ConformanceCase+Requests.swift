// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTestServers

extension ConformanceCase {
    private static let make = CaseMaker(topic: .requests)

    /// Cases about method, target and header fields as the server receives them.
    static let requests: [ConformanceCase] = [
        make("sends every method by name") { probe in
            let methods: [HTTPMethod] = [.get, .post, .put, .patch, .delete, .options]
            for method in methods { _ = try await probe.send(probe.request("/", method)) }
            try probe.demandEqual(probe.log.requests.map(\.method), methods.map(\.rawValue), "the requests")
        },
        make("sends a custom method by name") { probe in
            _ = try await probe.send(probe.request("/", "PROPFIND"))
            try probe.demandEqual(try await probe.log.request(0).method, "PROPFIND", "the method")
        },
        make("refuses a method that is not a token and sends nothing") { probe in
            try await probe.demandFailure(of: .invalidRequest, sending: probe.request("/", "GE T"))
            try await probe.demandNothingWasSent()
        },
        make("sends path and query as encoded in the URL") { probe in
            let target = "/a%2Fb/c%20d/%C3%BC?q=1%2B2&r=a+b&flag&e="
            _ = try await probe.send(probe.request(target))
            try probe.demandEqual(try await probe.log.request(0).target, target, "the target")
        },
        make("requests / when the URL has no path") { probe in
            var request = probe.request()
            let text = request.url.absoluteString
            request.url = URL(string: String(text.dropLast())) ?? request.url
            _ = try await probe.send(request)
            try probe.demandEqual(try await probe.log.request(0).target, "/", "the target")
        },
        make("never sends the fragment") { probe in
            _ = try await probe.send(probe.request("/page?a=1#part"))
            try probe.demandEqual(try await probe.log.request(0).target, "/page?a=1", "the target")
        },
        make("sends a whole target of 4,000 bytes") { probe in
            let target = "/long?" + String(repeating: "a=b&", count: 1_000)
            _ = try await probe.send(probe.request(target))
            let seen = try await probe.log.request(0).target
            try probe.demand(seen == target, "\(seen.count) bytes of the target arrived, not \(target.count)")
        },
        make.wire("sends host and port in Host") { probe in
            _ = try await probe.send(probe.request())
            let host = try await probe.log.request(0).values("Host")
            try probe.demandEqual(host, ["\(LoopbackServer.host):\(try probe.server().port)"], "Host")
        },
        make("refuses a URL that is not http or https") { probe in
            for text in ["file:///etc/passwd", "ftp://127.0.0.1/", "http:///path"] {
                guard let url = URL(string: text) else { continue }
                try await probe.demandFailure(of: .invalidRequest, sending: ApiRequest(url: url))
            }
        },
        make("sends header fields with unchanged values") { probe in
            var request = probe.request()
            request.headers = ["X-One": "1", "x-two": "ü, \"quoted\"; a=b", "Accept": "application/json"]
            _ = try await probe.send(request)
            let seen = try await probe.log.request(0)
            try probe.demandEqual(seen.values("X-One"), ["1"], "X-One")
            try probe.demandEqual(seen.values("X-Two"), ["ü, \"quoted\"; a=b"], "x-two")
            try probe.demandEqual(seen.values("Accept"), ["application/json"], "Accept")
        },
        make("sends a header field without a value") { probe in
            var request = probe.request()
            request.headers = ["X-Empty": "", "X-After": "1"]
            _ = try await probe.send(request)
            let seen = try await probe.log.request(0)
            try probe.demandEqual(seen.values("X-Empty"), [""], "X-Empty")
            try probe.demandEqual(seen.values("X-After"), ["1"], "X-After")
        },
        make("sends a whole header field of 8,000 bytes") { probe in
            var request = probe.request()
            let value = String(repeating: "0123456789", count: 800)
            request.headers["X-Long"] = value
            _ = try await probe.send(request)
            try probe.demand(try await probe.log.request(0).values("X-Long") == [value], "a different value arrived")
        },
        make("sends every value of a repeated header field, in order") { probe in
            let seen = try await probe.sendRepeatedFields()
            let values = seen.flatMap { $0.split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces) }
            try probe.demandEqual(values, ["b", "a", "c"], "the values of X-Twice")
        },
        make("sends a repeated header field once for each value") { probe in
            try probe.demandEqual(try await probe.sendRepeatedFields(), ["b", "a", "c"], "X-Twice")
        },
        make("sends header fields in their order") { probe in
            var request = probe.request()
            let names: [HTTPHeaders.Name] = ["X-3", "X-1", "X-4", "X-2", "X-6", "X-5"]
            for name in names { request.headers[name] = "1" }
            _ = try await probe.send(request)
            let seen = try await probe.log.request(0).fields.map(\.name).filter { $0.hasPrefix("X-") && $0.count == 3 }
            try probe.demandEqual(seen, names.map(\.rawValue), "the order")
        },
        make("adds no field that the request already has") { probe in
            var request = probe.request("/", .post, .text("{}"))
            let fields: HTTPHeaders = [
                "Accept": "a/b", "Accept-Encoding": "identity", "Accept-Language": "tlh", "Content-Type": "c/d",
                "User-Agent": "case/1",
            ]
            request.headers = fields
            _ = try await probe.send(request)
            let seen = try await probe.log.request(0)
            for field in fields {
                try probe.demandEqual(seen.values(field.name.rawValue), [field.value], "\(field.name)")
            }
        },
        make(
            "sends the request's cookies and adds none",
            .each(.text("ok", 200, ["Set-Cookie": "kept=1"]))
        ) { probe in
            _ = try await probe.send(probe.request())
            var request = probe.request()
            request.headers["Cookie"] = "mine=2"
            _ = try await probe.send(request)
            _ = try await probe.send(probe.request())
            let seen = probe.log.requests.map { $0.values("Cookie") }
            try probe.demandEqual(seen, [[], ["mine=2"], []], "Cookie")
        },
        make("refuses a header field with a line break and sends nothing") { probe in
            var request = probe.request()
            request.headers["X-Bad"] = "a\r\nX-Forged: b"
            try await probe.demandFailure(of: .invalidRequest, sending: request)
            try await probe.demandNothingWasSent()
        },
        make("refuses a header field whose name is not a token and sends nothing") { probe in
            var request = probe.request()
            request.headers.append("X Bad:", "1")
            try await probe.demandFailure(of: .invalidRequest, sending: request)
            try await probe.demandNothingWasSent()
        },
    ]
}

extension ConformanceProbe {
    /// Sends a request, and requires that it is the only one that has arrived.
    func demandNothingWasSent() async throws {
        _ = try await send(request("/after"))
        try demandEqual(targets, ["/after"], "the requests")
    }

    fileprivate func sendRepeatedFields() async throws -> [String] {
        var request = request()
        for value in ["b", "a", "c"] { request.headers.append("X-Twice", value) }
        _ = try await send(request)
        return try await log.request(0).values("X-Twice")
    }
}
