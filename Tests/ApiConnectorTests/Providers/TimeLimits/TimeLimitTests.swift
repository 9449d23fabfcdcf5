// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

struct TimeLimitTests {
    private typealias Connection<Provider: DataRequestType> = NetworkConnector<Provider, Router>

    private static func limited(_ timeouts: Timeouts, _ clock: ManualClock) -> ConnectionConfiguration {
        ConnectionConfiguration(timeouts: timeouts, timeSource: clock)
    }

    /// Starts a call, moves the clock when the limit is waited for, and gives what the call failed with.
    private func failure(
        over provider: some DataRequestType,
        at url: URL? = nil,
        _ timeouts: Timeouts,
        advancing steps: Duration...
    ) async throws -> ApiConnectorError {
        let clock = ManualClock()
        let api = Connection(environment: .localhost, provider: provider, configuration: Self.limited(timeouts, clock))
        let call = Task { () async throws(ApiConnectorError) -> Data in
            if let url { try await api.data(at: url) } else { try await api.data(at: .me) }
        }
        for step in steps {
            #expect(try await clock.nextSleep() == step)
            clock.advance(by: step)
        }
        let result = await call.result
        return try #require(throws: ApiConnectorError.self) { try result.get() }
    }

    private static let silentSource = TestConnector { _ in .never }

    @Test func aCannedResponseThatNeverAnswersTimesOutOnTheVirtualClock() async throws {
        let attempt = Timeouts(attempt: .seconds(600), stall: Timeouts.noLimit)
        let error = try await failure(over: Self.silentSource, attempt, advancing: .seconds(600))
        #expect(error.kind == .timedOut)
        #expect(error.elapsed == .seconds(600))
        #expect(
            error.description
                == "GET http://localhost/me failed (timedOut): the attempt did not finish within 600.0 seconds. "
                + "Retry, or raise the attempt timeout."
        )
    }

    @Test func aSilentTransportStalls() async throws {
        let error = try await failure(over: Self.silentSource, Timeouts(), advancing: .seconds(60))
        #expect(error.kind == .stalled)
    }

    @Test func theDeadlineAppliesToTheWholeCall() async throws {
        let timeouts = Timeouts(attempt: .seconds(30), stall: Timeouts.noLimit, overall: .seconds(20))
        let error = try await failure(over: Self.silentSource, timeouts, advancing: .seconds(20))
        #expect(error.kind == .deadlineExceeded)
    }

    @Test func aSilentServerStallsOverURLSession() async throws {
        let server = try LoopbackServer { connection in
            guard try connection.readRequest() != nil else { return }
            try connection.waitUntilPeerCloses()
        }
        let provider = URLSessionProvider(configuration: .ephemeral)
        for (timeouts, kind) in [
            (Timeouts(), ApiConnectorError.Kind.stalled),
            (Timeouts(attempt: .seconds(60), stall: Timeouts.noLimit), .timedOut),
            (Timeouts(stall: Timeouts.noLimit, overall: .seconds(60)), .deadlineExceeded),
        ] {
            let error = try await failure(over: provider, at: server.url(), timeouts, advancing: .seconds(60))
            #expect(error.kind == kind)
        }
    }

    /// Starts to send a source to a server that does not respond.
    private func send(
        _ chunk: @escaping @Sendable () async -> Data?,
        to server: LoopbackServer,
        _ timeouts: Timeouts,
        _ clock: ManualClock
    ) -> Task<Data, any Error> {
        let api = Connection(
            environment: .localhost,
            provider: URLSessionProvider(configuration: .ephemeral),
            configuration: Self.limited(timeouts, clock)
        )
        let (url, body) = (server.url(), RequestBody.stream { AsyncStream(unfolding: chunk) })
        return Task { try await api.data(at: url, method: .post, body: body) }
    }

    private func silentServer() throws -> LoopbackServer {
        try LoopbackServer { connection in
            guard try connection.readRequest() != nil else { return }
            try connection.waitUntilPeerCloses()
        }
    }

    /// On Linux, the provider reads the source before it sends anything.
    @Test func aBodyWhoseSourceYieldsNothingEndsAtEachLimitOverURLSession() async throws {
        let server = try silentServer()
        let gate = Gate()
        defer { gate.open() }
        for (timeouts, kind) in [
            (Timeouts(), ApiConnectorError.Kind.stalled),
            (Timeouts(attempt: .seconds(60), stall: Timeouts.noLimit), .timedOut),
            (Timeouts(stall: Timeouts.noLimit, overall: .seconds(60)), .deadlineExceeded),
        ] {
            let clock = ManualClock()
            let source: @Sendable () async -> Data? = {
                try? await gate.opened()
                return nil
            }
            let call = send(source, to: server, timeouts, clock)
            #expect(try await clock.nextSleep() == .seconds(60))
            clock.advance(by: .seconds(60))
            let result = await call.result
            let error = try #require(throws: ApiConnectorError.self) { try result.get() }
            #expect(error.kind == kind)
        }
    }

    #if canImport(FoundationNetworking)
    @Test func eachChunkOfASourceRestartsTheStallTimeoutOverURLSession() async throws {
        let server = try silentServer()
        let clock = ManualClock()
        let (first, second, never) = (Gate("first"), Gate("second"), Gate("never"))
        defer { never.open() }
        let isFirst = Locked(true)
        let source: @Sendable () async -> Data? = {
            let isNow = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            guard isNow else {
                second.open()
                try? await never.opened()
                return nil
            }
            try? await first.opened()
            return Data("chunk".utf8)
        }
        let call = send(source, to: server, Timeouts(), clock)
        #expect(try await clock.nextSleep() == .seconds(60))
        clock.advance(by: .seconds(40))
        first.open()
        try await second.opened()
        clock.advance(by: .seconds(20))
        // The chunk came after 40 seconds.
        #expect(try await clock.nextSleep() == .seconds(40))
        clock.advance(by: .seconds(40))
        let result = await call.result
        let error = try #require(throws: ApiConnectorError.self) { try result.get() }
        #expect(error.kind == .stalled)
    }
    #endif

    @Test func aSourceThatIgnoresCancellationIsAbandonedAtTheTimeout() async throws {
        let gate = Gate()
        let provider = TestConnector { _ in
            try await gate.opened()
            return .status(200)
        }
        defer { gate.open() }
        let error = try await failure(over: provider, Timeouts(attempt: .seconds(5)), advancing: .seconds(5))
        #expect(error.kind == .timedOut)
    }

    /// A pause before a retry does not count as silence, although the code around it can stall.
    @Test func onlyATransportThatReportsProgressCanStall() async throws {
        let clock = ManualClock()
        let provider = TestConnector { request in
            let gate = Gate()
            let silence = Task {
                await request.withStopHandler {
                    try? await gate.opened()
                } onStop: { _ in
                    gate.open()
                }
            }
            while try await clock.nextSleep() != .seconds(60) {}
            silence.cancel()
            _ = await silence.result
            clock.advance(by: .seconds(60))
            while try await clock.nextSleep() != .seconds(540) {}
            return .status(204)
        }
        let timeouts = Timeouts(stall: .seconds(60), overall: .seconds(600))
        let api = Connection(
            environment: .localhost,
            provider: provider,
            configuration: Self.limited(timeouts, clock)
        )
        try await api.send(at: .me)
    }

    /// A request that belongs to no connection.
    private static func request(_ timeouts: Timeouts, _ clock: ManualClock) throws -> ApiRequest {
        var request = ApiRequest(url: try #require(URL(string: "http://h/a")))
        request.timeSource = clock
        request.timeouts = timeouts
        return request
    }

    /// Its transport reports no progress that could end the silence.
    @Test func aWaitOutsideOfAnAttemptHasTheAttemptLimitAndCannotStall() async throws {
        let clock = ManualClock()
        let request = try Self.request(Timeouts(attempt: .seconds(10), stall: .seconds(5)), clock)
        let kinds = EventLog<ApiConnectorError.Kind>()
        let gate = Gate()
        let wait = Task {
            await request.withStopHandler {
                try? await gate.opened()
            } onStop: { error in
                kinds.note(error.kind)
                gate.open()
            }
        }
        defer { gate.open() }
        #expect(try await clock.nextSleep(within: .seconds(10)) == .seconds(10))
        clock.advance(by: .seconds(10))
        await wait.value
        #expect(kinds.events == [.timedOut])
    }

    @Test func codeWhoseErrorsAreMappedHasTheAttemptLimit() async throws {
        let clock = ManualClock()
        let request = try Self.request(Timeouts(attempt: .seconds(10), stall: Timeouts.noLimit), clock)
        let gate = Gate()
        defer { gate.open() }
        let call = Task { try await ApiConnectorError.mapping(request) { try await gate.opened() } }
        #expect(try await clock.nextSleep(within: .seconds(10)) == .seconds(10))
        clock.advance(by: .seconds(10))
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == .timedOut)
    }

    @Test func eachHopIsItsOwnAttempt() async throws {
        let clock = ManualClock()
        let provider = TestConnector { request in
            clock.advance(by: .seconds(8))
            guard request.url.path() != "/end" else { return .data(Data("there".utf8)) }
            return .status(302, headers: ["Location": request.url.path() == "/me" ? "/next" : "/end"])
        }
        let timeouts = Timeouts(attempt: .seconds(10), overall: .seconds(30))
        let api = Connection(
            environment: .localhost,
            provider: provider,
            configuration: Self.limited(timeouts, clock)
        )
        #expect(try await api.data(at: .me) == Data("there".utf8))
        #expect(clock.now == .seconds(24))
    }

    @Test func aTransferThatProgressesDoesNotStall() async throws {
        let clock = ManualClock()
        let gate = Gate()
        let server = try LoopbackServer { connection in
            guard try connection.readRequest() != nil else { return }
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
            try connection.wait(for: gate)
            try connection.send("world")
            try connection.waitUntilPeerCloses()
        }
        let api = Connection(
            environment: .localhost,
            provider: Witness(URLSessionProvider(configuration: .ephemeral)),
            configuration: Self.limited(Timeouts(), clock)
        )
        async let body = api.data(at: server.url())
        #expect(try await clock.nextSleep() == .seconds(60))
        _ = try await server.request(0)
        gate.open()
        #expect(try await body == Data("helloworld".utf8))
    }

    @Test(
        arguments: [
            (.unlimited, false), (Timeouts(stall: .seconds(9)), false), (Timeouts(attempt: .seconds(9)), true),
            (Timeouts(overall: .seconds(9)), true),
        ] as [(Timeouts, Bool)]
    )
    func aProviderKnowsWhetherItHasATimeout(_ timeouts: Timeouts, _ isTimeLimited: Bool) async throws {
        let provider = TestConnector { .status($0.isTimeLimited == isTimeLimited ? 204 : 500) }
        let api = Connection(
            environment: .localhost,
            provider: provider,
            configuration: Self.limited(timeouts, ManualClock())
        )
        try await api.send(at: .me)
    }

    @Test func aCallWithoutLimitsSetsNoTimer() async throws {
        let clock = ManualClock()
        let api = Connection(
            environment: .localhost,
            provider: TestConnector { _ in .status(200) },
            configuration: Self.limited(.unlimited, clock)
        )
        try await api.send(at: .me)
        #expect(clock.sleeperCount == 0)
    }
}

/// A wrapper that changes nothing.
private struct Witness<Wrapped: DataRequestType>: DataRequestType {
    let wrapped: Wrapped

    init(_ wrapped: Wrapped) { self.wrapped = wrapped }

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        try await wrapped.response(for: request)
    }
}
