// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// The times of an exchange, and the places that have them.
struct TransportTimesTests {
    private typealias Route = Endpoint<ApiPath>

    @Test func theLongestPhaseIsNamedInASentence() {
        var times = TransportTimes()
        #expect(times.longestPhase == nil)
        #expect(times.sentence == nil)
        times[.nameLookup] = .milliseconds(3_940)
        times[.connecting] = .milliseconds(40)
        times[.responseWait] = .milliseconds(60)
        #expect(times.longestPhase == .nameLookup)
        #expect(times.total == .milliseconds(4_040))
        #expect(times.timeToFirstByte == nil)
        #expect(times.sentence == "The name lookup took 3.9 of 4.0 s.")
        #expect(times.description == "nameLookup 3940.0 ms, connecting 40.0 ms, responseWait 60.0 ms")
        times[.receiving] = .seconds(1)
        #expect(times.timeToFirstByte == .milliseconds(4_040))
    }

    @Test func aShortExchangeHasNoSentence() {
        var times = TransportTimes()
        times[.responseWait] = .milliseconds(999)
        #expect(times.sentence == nil)
        times[.responseWait] = .seconds(1)
        #expect(times.sentence == "Waiting for the response took 1.0 of 1.0 s.")
    }

    @Test func eachPhaseIsRecordedSeparately() {
        var times = TransportTimes()
        for (number, phase) in TransportTimes.Phase.allCases.enumerated() { times[phase] = .seconds(number) }
        #expect(TransportTimes.Phase.allCases.map { times[$0] } == (0..<7).map { .seconds($0) })
        #expect(times.total == .seconds(21))
    }

    @Test func aProviderThatLetsARequestWaitAddsToTheTransportsWait() {
        let inner = TransportTimesRecord()
        let outer = inner.adding(wait: .seconds(2)).adding(wait: .seconds(1))
        #expect(outer.times?[.waiting] == .seconds(3))
        outer.update { $0[.waiting] = .milliseconds(500) }
        inner.update { $0[.receiving] = .seconds(4) }
        #expect(outer.times?[.waiting] == .milliseconds(3_500))
        #expect(outer.times?.total == .milliseconds(7_500))
        #expect(inner.times?.total == .milliseconds(4_500))
    }

    @Test func namesOfProtocolsAreVersions() {
        #expect(
            ["http/1.1", "h2", "h3", "HTTP/1.0", "spdy/3", nil].map(TransportTimes.httpVersion)
                == ["1.1", "2", "3", "1.0", nil, nil]
        )
        #expect([0x0303, 0x0304, 0x0305, nil].map(TransportTimes.tlsVersion) == ["1.2", "1.3", nil, nil])
    }

    // MARK: - Over the test double

    private func api(
        _ clock: ManualClock,
        _ answer: @escaping @Sendable (ApiRequest) -> TestConnectorResponse
    ) -> NetworkConnector<AnyProvider, Route> {
        NetworkConnector(
            environment: Place(),
            provider: AnyProvider(
                TestConnector { answer($0) }
                    .retrying(RetryPolicy(maximumAttemptCount: 3, initialDelay: .zero))
            ),
            configuration: ConnectionConfiguration(timeouts: .unlimited, timeSource: clock)
        )
    }

    @Test func theTestDoubleMeasuresOnItsClock() async throws {
        let clock = ManualClock()
        let api = api(clock) { _ in
            clock.advance(by: .seconds(2))
            return .data(Data("tea".utf8))
        }
        let response = try await api.response(at: Endpoint("/"))
        #expect(response.times?[.responseWait] == .seconds(2))
        #expect(response.times?[.receiving] == .zero)
        #expect(response.times?.decodedBodyByteCount == 3)
    }

    @Test func eachAttemptHasItsTimes() async throws {
        let clock = ManualClock()
        let api = api(clock) { request in
            clock.advance(by: .seconds(request.attempt))
            return .status(503)
        }
        let recorder = EventRecorder()
        let observed = NetworkConnector(
            environment: Place(),
            provider: api.provider.observing(by: recorder),
            router: Route.self,
            configuration: api.configuration
        )
        let error = try await failure { () throws(ApiConnectorError) in try await observed.send(at: Endpoint("/")) }
        #expect(error.times?[.responseWait] == .seconds(3))
        #expect(error.earlierAttempts.map { $0.times?[.responseWait] } == [.seconds(1), .seconds(2)])
        #expect(error.description.contains("Waiting for the response took 3.0 of 3.0 s."))
        let timed = recorder.events.compactMap { event -> Duration? in
            if case .attemptTimed(let times) = event.kind { times[.responseWait] } else { nil }
        }
        #expect(timed == [.seconds(1), .seconds(2)])
        let totals = recorder.events.compactMap { event -> CallTotals? in
            if case .finished(let totals) = event.kind { totals } else { nil }
        }
        #expect(totals.map { $0.times?[.responseWait] } == [.seconds(3)])
    }

    @Test func eachHopHasItsTimes() async throws {
        let clock = ManualClock()
        let recorder = EventRecorder()
        let provider = TestConnector { request in
            guard request.url.path() == "/old" else {
                clock.advance(by: .seconds(5))
                return .data(Data("tea".utf8))
            }
            clock.advance(by: .seconds(1))
            return .status(302, headers: ["Location": "/new"])
        }
        let api = NetworkConnector(
            environment: Place(),
            provider: provider.observing(by: recorder),
            router: Route.self,
            configuration: ConnectionConfiguration(timeouts: .unlimited, timeSource: clock)
        )
        let response = try await api.response(at: Endpoint("/old"))
        #expect(response.times?[.responseWait] == .seconds(5))
        let totals = recorder.events.compactMap { event -> Duration? in
            if case .finished(let totals) = event.kind { totals.times?[.responseWait] } else { nil }
        }
        #expect(totals == [.seconds(1), .seconds(5)])
    }

    @Test func aStreamIsMeasuredUntilItsEnd() async throws {
        let clock = ManualClock()
        let provider = TestConnector { _ in .data(Data("ab".utf8)).chunked(byteCount: 1) }
        let url = try #require(URL(string: "http://localhost/"))
        var request = ApiRequest(url: url, delivery: .streamed)
        request.timeSource = clock
        let response = try await provider.response(for: request)
        #expect(response.times?[.receiving] == .zero)
        for try await _ in response.body { clock.advance(by: .seconds(1)) }
        #expect(response.times?[.receiving] == .seconds(2))
    }

    @Test func aDecodedResponseAndAnErrorOfItsBodyHaveThem() async throws {
        let clock = ManualClock()
        let api = api(clock) { _ in
            clock.advance(by: .seconds(2))
            return .json([1, 2])
        }
        let decoded = try await api.response(of: [Int].self, at: Endpoint("/"))
        #expect(decoded.times?[.responseWait] == .seconds(2))
        let error = try await failure { () throws(ApiConnectorError) in
            try await api.value(String.self, at: Endpoint("/"))
        }
        #expect(error.kind == .decodingFailed)
        #expect(error.times?[.responseWait] == .seconds(2))
    }

    #if canImport(FoundationNetworking)
    @Test func aSessionOnLinuxMeasuresNothing() async throws {
        let server = try LoopbackServer.responding { _ in .text("tea") }
        let response = try await URLSessionProvider().response(for: ApiRequest(url: server.url()))
        #expect(response.times == nil)
    }
    #endif
}
