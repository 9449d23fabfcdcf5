// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

@testable import ApiConnectorTestServers
import ApiConnector
@testable import ApiConnectorTesting
import Testing

/// A server, and a proxy, that answer from a script.
@Suite(.timeLimit(.minutes(10)))
struct ScriptServerTests {
    private let script = Script(for: Kiosk.self, in: KioskServer())
}

extension ScriptServerTests {
    /// The server's whole output for these bytes.
    private func answer(to text: String, at port: Int) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread {
                continuation.resume(
                    with: Result {
                        let socket = try Socket.connect(to: port)
                        try socket.send(Data(text.utf8))
                        var answer = Data()
                        while case let bytes = try socket.receive(), !bytes.isEmpty { answer += bytes }
                        return String(decoding: answer, as: UTF8.self)
                    }
                )
            }
            thread.start()
        }
    }

    @Test func replacesTheEnvironmentIncludingItsBasePath() async throws {
        script.on(.paper(id: 1)).answer(.data(Data("morning".utf8)))
        let server = try ScriptServer(script)
        #expect(server.url.absoluteString == "http://\(LoopbackServer.host):\(server.port)/v1/")
        let text = try await answer(
            to: "GET /v1/papers/1 HTTP/1.1\r\nHost: x\r\nX-Kiosk: corner\r\n\r\n",
            at: server.port
        )
        let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
        #expect(lines.first == "HTTP/1.1 200 OK")
        #expect(lines.contains("Content-Length: 7"))
        #expect(lines.contains("Connection: close"))
        #expect(lines.last == "morning")
        #expect(await script.end().isEmpty)
    }

    #if os(Linux) || os(macOS)
    @Test func checkK_answersCodeInAnotherProcess() async throws {
        script.on(.paper(id: 1)).answer(.status(503)).answer(Paper.morning)
        script.on(.order(count: 7)).answer(.status(201))
        let server = try ScriptServer(script)
        let url = server.url.absoluteString
        await #expect(processExitsWith: .success) {
            [url = url as String] in
            let provider = Readdressed(to: try #require(URL(string: url)))
            let kiosk = KioskConnection(
                environment: KioskServer(),
                provider: AnyProvider(provider),
                configuration: .patient
            )
            #expect((try? await kiosk.data(at: .paper(id: 1))) == nil)
            #expect(try await kiosk.value(Paper.self, at: .paper(id: 1)) == .morning)
            try await kiosk.send(at: .order(count: 7))
            // Swallowed, and told to the test all the same.
            #expect((try? await kiosk.data(at: .paper(id: 2))) == nil)
        }
        #expect(try script.requests[2].json(as: [String: Int].self) == ["count": 7])
        #expect(await script.end().map(\.kind) == [.unmatched])
    }
    #endif

    @Test func answersTheAbsoluteFormAsAProxyDoes() async throws {
        script.on(.paper(id: 1)).answer(.data(Data("morning".utf8)))
        let server = try ScriptServer(script)
        let head =
            "GET http://kiosk.example.com/v1/papers/1 HTTP/1.1\r\nHost: kiosk.example.com\r\nX-Kiosk: corner\r\n\r\n"
        #expect(try await answer(to: head, at: server.port).hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(await script.end().isEmpty)
    }

    @Test func refusesConnectWithAnExplanation() async throws {
        let server = try ScriptServer(script)
        let text = try await answer(to: "CONNECT kiosk.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n", at: server.port)
        #expect(text.hasPrefix("HTTP/1.1 501 Not Implemented\r\n"))
        let issues = await script.end()
        #expect(issues.map(\.kind) == [.refused])
        #expect(
            issues.first?.description
                == "A ScriptServer refused a request: CONNECT kiosk.example.com:443 is refused: a script cannot answer "
                + "inside TLS; give the client an http URL, or make the server's URL its base URL."
        )
    }

    @Test(
        arguments: [
            ("nonsense\r\n\r\n", 400), ("GET * HTTP/1.1\r\nHost: x\r\n\r\n", 501),
            ("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 501), ("GET http:/x HTTP/1.1\r\nHost: x\r\n\r\n", 501),
        ]
    )
    func refusesMalformedRequests(_ head: String, _ status: Int) async throws {
        let server = try ScriptServer(script)
        #expect(try await answer(to: head, at: server.port).hasPrefix("HTTP/1.1 \(status) "))
        #expect(await script.end().map(\.kind) == [.refused])
    }

    @Test func replacesTheFramingFieldsOfAnAnswer() async throws {
        let headers: HTTPHeaders = ["Content-Length": "999", "Transfer-Encoding": "gzip", "Connection": "keep-alive"]
        script.on(matching: .path("/v1/a")).answer(.data(Data("abc".utf8), headers: headers))
        script.on(matching: .path("/v1/b")).answer(.chunks([Data("ab".utf8), Data("c".utf8)], headers: headers))
        let server = try ScriptServer(script)
        let whole = try await answer(to: "GET /v1/a HTTP/1.1\r\nHost: x\r\n\r\n", at: server.port)
        #expect(whole == "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc")
        let chunked = try await answer(to: "GET /v1/b HTTP/1.1\r\nHost: x\r\n\r\n", at: server.port)
        #expect(
            chunked
                == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"
        )
        #expect(await script.end().isEmpty)
    }

    @Test func servesAnyProvider() async throws {
        struct Always: ResponseProvider {
            func response(for request: ApiRequest) async throws -> TestConnectorResponse {
                .json(["asked": request.url.path()])
            }
        }
        let server = try ScriptServer(Always())
        let (data, _) = try await URLSession(configuration: .ephemeral).data(from: server.url.appending(path: "a/b"))
        #expect(String(decoding: data, as: UTF8.self) == #"{"asked":"\/a\/b"}"#)
        server.stop()
    }

    @Test func livesAsLongAsItsScript() async throws {
        var script: Script<Kiosk>? = Script(for: Kiosk.self, in: KioskServer())
        let port = try script.map { try ScriptServer($0).port }
        weak let server = script?.engine.kept.first
        #expect(server != nil)
        script?.on(matching: .path("/v1/x")).answer(.status(204))
        let text = try await answer(to: "GET /v1/x HTTP/1.1\r\nHost: x\r\n\r\n", at: try #require(port))
        #expect(text.hasPrefix("HTTP/1.1 204 "))
        #expect(await script?.end().isEmpty == true)
        script = nil
        #expect(server == nil)
    }

    @Test func aClientThatDisconnectsCancelsItsRequest() async throws {
        // Without the report, the script would wait for the running request for an hour.
        script.on(.paper(id: 1)).answer(.json(Paper.morning).after(.seconds(3600), on: .system))
        let kiosk = try ScriptAdapter.server.connection(to: script)
        let call = Task { try? await kiosk.data(at: .paper(id: 1)) }
        _ = try await script.nextRequest()
        call.cancel()
        _ = await call.value
        #expect(await script.end(waitingUpTo: .seconds(600)).isEmpty)
        #expect(script.requests.map(\.outcome.description) == ["cancelled"])
    }

    @Test func passesOnRequestsWithoutAnAnswer() async throws {
        let real = try LoopbackServer.responding { request in
            .json(#"{"real":"\#(request.target)","via":"\#(request.header("Proxy-Connection") ?? "")"}"#)
        }
        defer { real.stop() }
        script.on(.paper(id: 1)).answer(.data(Data("morning".utf8)))
        let server = try ScriptServer(script, passingUnmatchedTo: SystemProvider())
        let get = "HTTP/1.1\r\nHost: 127.0.0.1\r\nProxy-Connection: keep-alive\r\n\r\n"
        let text = try await answer(to: "GET http://127.0.0.1:\(real.port)/x?y=1 \(get)", at: server.port)
        #expect(text.hasSuffix(#"{"real":"/x?y=1","via":""}"#))
        let canned = "HTTP/1.1\r\nHost: x\r\nX-Kiosk: corner\r\n\r\n"
        #expect(
            try await answer(to: "GET http://kiosk.example.com/v1/papers/1 \(canned)", at: server.port)
                .hasSuffix("morning")
        )
        #expect(script.requests.map(\.outcome.description) == ["answered 200 OK", "answered 200 OK"])
        #expect(await script.end().isEmpty)
    }

    @Test(.timeLimit(.minutes(10))) func neverPassesARequestOnToItself() async throws {
        let nothing = ClosureResponses { request in
            throw ApiConnectorError(.unmatched, "nobody answers", request: request)
        }
        let server = try ScriptServer(nothing, passingUnmatchedTo: SystemProvider())
        let head = "HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n"
        for target in ["/x", "http://127.0.0.1:\(server.port)/x", "http://localhost:\(server.port)/x"] {
            let text = try await answer(to: "GET \(target) \(head)", at: server.port)
            #expect(text.hasPrefix("HTTP/1.1 501 "))
            #expect(text.contains("its URL is that of this ScriptServer; give the URL of the server that it replaces"))
        }
    }

    @Test func aPassedOnRequestThatFailsIsRefused() async throws {
        let server = try ScriptServer(script, passingUnmatchedTo: Nothing())
        let text = try await answer(to: "GET /v1/x HTTP/1.1\r\nHost: x\r\n\r\n", at: server.port)
        #expect(text.hasPrefix("HTTP/1.1 501 "))
        #expect(await script.end().map(\.kind) == [.refused])
    }
}
