// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTestServers
import ApiConnectorConformance
import ApiConnector
import ApiConnectorTesting
import Testing

struct CurlProviderTests {
    @Test func keepsThePromisesOfATransport() async {
        let shared = "providers made by init() share one pool, from which another test may push a connection out"
        let report = await ConformanceTarget.transport { CurlProvider() }
            .check(excluding: ["reuses a connection": shared], within: .seconds(600))
        #expect(report.isPassed, "\(report)")
    }

    @Test func keepsThePromisesOfATransportWithItsOwnConnections() async {
        let report = await ConformanceTarget.transport { CurlProvider(configuration: .patient) }
            .check(excluding: Libcurl.conformanceExclusions, within: .seconds(600))
        #expect(report.isPassed, "\(report)")
        #expect(report.exclusions.count == Libcurl.conformanceExclusions.count)
    }

    @Test func isTheSystemsProvider() async throws {
        let server = try LoopbackServer.responding { _ in .text("ok") }
        let requestCount = 10
        for _ in 0..<requestCount {
            let response = try await SystemProvider().response(for: ApiRequest(url: server.url()))
            #expect(response.status == 200)
        }
        // Providers made by init() share one pool, from which another test may push a connection out.
        #expect(server.requests.count == requestCount)
        #expect(server.connectionCount < requestCount)
    }

    @Test func reusesAConnectionForSequentialRequests() async throws {
        let server = try LoopbackServer.responding { .text($0.target) }
        let provider = CurlProvider(configuration: .patient)
        // Over a libcurl that does not ask before it sends, a POST takes a new connection.
        let methods: [HTTPMethod] = [.get, Libcurl.asks ? .post : .put, .head, .put, .get, .delete]
        var pace = Pace()
        for method in methods {
            let body: RequestBody = method == .post || method == .put ? .text("x") : .empty
            _ = try await provider.response(for: ApiRequest(url: server.url("/a"), method: method, body: body))
            pace.step()
        }
        #expect(server.requests.map(\.method) == methods.map(\.rawValue))
        #expect(server.connectionCount == 1 || !pace.keepsConnections)
    }

    @Test(arguments: [false, true]) func respectsTheConnectionLimit(perHost: Bool) async throws {
        let server = try LoopbackServer.responding { .text($0.target) }
        var configuration = CurlConfiguration.patient
        if perHost {
            configuration.maximumConnectionCountPerHost = 2
        } else {
            configuration.maximumConnectionCount = 2
        }
        let provider = CurlProvider(configuration: configuration)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask { _ = try await provider.response(for: ApiRequest(url: server.url())) }
            }
            try await group.waitForAll()
        }
        #expect(server.requests.count == 20)
        #expect(server.connectionCount <= 2)
    }

    @Test func sendsFieldsUnchanged() async throws {
        let server = try LoopbackServer.responding { _ in .status(204) }
        var request = ApiRequest(url: server.url("/a/../b?q=%20"), method: .post)
        request.headers = ["X-Empty": "", "Cookie": "a=1", "X-Twice": "1", "Content-Length": "99"]
        request.headers.append("X-Twice", "2")
        request.headers.append("Cookie", "b=2")
        _ = try await CurlProvider().response(for: request)
        let seen = try await server.request(0)
        #expect(seen.target == "/a/../b?q=%20")
        #expect(seen.headers(named: "X-Empty") == [""])
        #expect(seen.headers(named: "X-Twice") == ["1", "2"])
        #expect(seen.headers(named: "Cookie") == ["a=1; b=2"])
        #expect(seen.headers(named: "Content-Length") == ["0"])
        #expect(seen.headers(named: "Content-Type") == [])
        #expect(seen.headers(named: "Expect") == [])
    }

    @Test func keepsCookiesOnlyWhenAskedTo() async throws {
        let server = try LoopbackServer.responding { _ in
            LoopbackResponse(headers: [("Set-Cookie", "a=1; Path=/"), ("Set-Cookie", "b=2; Path=/")])
        }
        var configuration = CurlConfiguration.patient
        let forgetful = CurlProvider(configuration: configuration)
        configuration.cookies = .inMemory
        let mindful = CurlProvider(configuration: configuration)
        for provider in [forgetful, forgetful, mindful, mindful] {
            let response = try await provider.response(for: ApiRequest(url: server.url()))
            #expect(response.headers.values(.setCookie).count == 2)
        }
        let sent = server.requests.map { $0.header("Cookie")?.components(separatedBy: "; ").sorted() }
        #expect(sent == [nil, nil, nil, ["a=1", "b=2"]])
    }

    @Test func goesThroughAProxy() async throws {
        let proxy = try LoopbackServer.responding { .text($0.target) }
        var configuration = CurlConfiguration.patient
        configuration.proxy = .url(proxy.url())
        let target = try #require(URL(string: "http://nowhere.invalid/a?b=1"))
        let response = try await CurlProvider(configuration: configuration).response(for: ApiRequest(url: target))
        #expect(try await response.body.collect(upTo: 100) == Data("http://nowhere.invalid/a?b=1".utf8))
    }

    @Test func goesThroughTheEnvironmentsProxyUnlessToldOtherwise() async {
        await #expect(processExitsWith: .success) {
            let proxy = try LoopbackServer.responding { _ in .text("proxy") }
            let server = try LoopbackServer.responding { _ in .text("server") }
            setenv("http_proxy", proxy.url().absoluteString, 1)
            setenv("no_proxy", "localhost", 1)
            func answer(from host: String, _ choice: TransportConfiguration.Proxy) async throws -> String {
                var configuration = CurlConfiguration.patient
                configuration.proxy = choice
                let url = try #require(URL(string: "http://\(host):\(server.port)/"))
                let response = try await CurlProvider(configuration: configuration).response(for: ApiRequest(url: url))
                return String(decoding: try await response.body.collect(upTo: 100), as: UTF8.self)
            }
            try #require(await answer(from: "127.0.0.1", .environment) == "proxy")
            try #require(await answer(from: "localhost", .environment) == "server")
            try #require(await answer(from: "127.0.0.1", .none) == "server")
        }
    }

    @Test func errorsContainLibcurlsText() async throws {
        let port = try RefusingPort()
        defer { withExtendedLifetime(port) {} }
        let request = ApiRequest(url: try #require(URL(string: "http://127.0.0.1:\(port.number)/a?token=secret")))
        let error = await #expect(throws: ApiConnectorError.self) {
            try await CurlProvider().response(for: request)
        }
        #expect(error?.kind == .cannotConnect)
        #expect(error?.detail.contains("libcurl says: Failed to connect to 127.0.0.1") == true)
        #expect(error?.request?.url.hasSuffix("/a?token=REDACTED") == true)
    }
}
#endif
