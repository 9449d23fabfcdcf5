// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct SpyTests {
    private let script = Script(for: Shop.self, in: .test)
}

extension SpyTests {
    @Test func recordsEveryRequestAsSentWithItsOutcome() async throws {
        script.on(.add(.green)).answer(.status(201))
        script.on(.tea(id: 1)).answer(.failure(URLError(.networkConnectionLost))).answer(.status(404))
        let shop = script.connection(ConnectionConfiguration(headers: ["X-Trace": "7"]))
        try await shop.send(at: .add(.green))
        _ = try? await shop.data(at: .tea(id: 1))
        _ = try? await shop.data(at: .tea(id: 1))
        _ = try? await shop.data(at: .tea(id: 2))

        let sent = script.requests
        #expect(sent.map(\.number) == [1, 2, 3, 4])
        #expect(sent.map(\.method) == [.post, .get, .get, .get])
        #expect(sent.map { $0.url.path() } == ["/teas", "/teas/1", "/teas/1", "/teas/2"])
        #expect(sent.allSatisfy { $0.headers["X-Trace"] == "7" && $0.attempt == 1 })
        #expect(try sent[0].json(as: Tea.self) == .green)
        #expect(
            sent.map(\.outcome.description)
                == ["answered 201 Created", "failed (connectionLost)", "answered 404 Not Found", "failed (unmatched)"]
        )
        _ = await script.end()
    }

    @Test func recordsARequestWithAnIncompleteBody() async throws {
        let body = RequestBody.stream {
            AsyncThrowingStream<Data, any Error> { continuation in
                continuation.yield(Data("gre".utf8))
                continuation.finish(throwing: CocoaError(.fileReadNoSuchFile))
            }
        }
        let url = try #require(URL(string: "https://shop.example.com/teas"))
        _ = try? await TestConnector(script).response(for: ApiRequest(url: url, method: .post, body: body))
        #expect(script.requests.map(\.outcome.description) == ["failed (encodingFailed)"])
        #expect(await script.end().isEmpty)
    }

    @Test func recordsTheAttemptOfARequest() async throws {
        script.on(.tea(id: 1)).answer(.status(503), times: 2).answer(.json(Tea.green))
        let clock = ManualClock()
        let shop = NetworkConnector(
            environment: .test,
            provider: TestConnector(script).retrying(),
            router: Shop.self,
            configuration: ConnectionConfiguration(timeouts: .unlimited, timeSource: clock)
        )
        let call = Task { try await shop.value(Tea.self, at: .tea(id: 1)) }
        for _ in 1...2 { clock.advance(by: try await clock.nextSleep()) }
        #expect(try await call.value == .green)
        #expect(script.requests.map(\.attempt) == [1, 2, 3])
        #expect(await script.end().isEmpty)
    }

    @Test func waitsForTheNextRequest() async throws {
        script.on { _ in true }.answer(.status(204), times: 3)
        let shop = script.connection()
        try await shop.send(at: .tea(id: 1))
        #expect(try await script.nextRequest().url.path() == "/teas/1")
        async let next = script.nextRequest()
        try await shop.send(at: .tea(id: 2))
        #expect(try await next.url.path() == "/teas/2")
        try await shop.send(at: .tea(id: 3))
        #expect(try await script.nextRequest().number == 3)
        #expect(await script.end().isEmpty)
    }

    @Test func aWaitForTheNextRequestTimesOut() async throws {
        let line = #line + 1
        let script = Script(for: Shop.self, in: .test)
        let error = await #expect(throws: (any Error).self) { try await script.nextRequest(within: .milliseconds(1)) }
        #expect(
            error.map { "\($0)" } == "no request reached the script made at \(place(line)) within 0.001 seconds"
        )
        let waiting = Task { try await script.nextRequest() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test func theTranscriptIsAStableTextWithoutSecrets() async throws {
        script.on { _ in true }.answer(.status(204), times: 2)
        let shop = script.connection(ConnectionConfiguration(headers: ["Authorization": "Bearer secret"]))
        try await shop.send(at: .login(password: "secret"))
        try await shop.send(at: .tea(id: 1))
        #expect(
            script.transcript == """
                # 1: answered 204 No Content
                curl --request POST \\
                  --url https://shop.example.com/login \\
                  --header 'X-Shop: tea' \\
                  --header 'Authorization: Bearer REDACTED' \\
                  --header 'Accept: */*' \\
                  --header 'Content-Type: application/x-www-form-urlencoded' \\
                  --data-raw 'password=REDACTED&user=ada'

                # 2: answered 204 No Content
                curl \\
                  --url https://shop.example.com/teas/1 \\
                  --header 'X-Shop: tea' \\
                  --header 'Authorization: Bearer REDACTED' \\
                  --header 'Accept: */*'
                """
        )
        #expect(await script.end().isEmpty)
    }
}
