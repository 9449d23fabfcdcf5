// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// `timeLimited` by itself, with the connection's limits, and with `retrying`.
@Suite(.timeLimit(.minutes(10))) struct TimeLimitedTests {}

extension TimeLimitedTests {
    private typealias Kind = ApiConnectorError.Kind

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let connection: Timeouts
        let wrapper: Timeouts
        let end: Duration
        let kind: ApiConnectorError.Kind

        init(
            _ name: String,
            _ connection: Timeouts,
            _ wrapper: Timeouts,
            _ end: Duration,
            _ kind: ApiConnectorError.Kind
        ) {
            (testDescription, self.connection, self.wrapper, self.end, self.kind) = (
                name, connection, wrapper, end, kind
            )
        }
    }

    private static func limits(_ attempt: Int?, _ stall: Int?, _ overall: Int?) -> Timeouts {
        func seconds(_ count: Int?) -> Duration? { count.map { .seconds($0) } }
        return Timeouts(attempt: seconds(attempt), stall: seconds(stall), overall: seconds(overall))
    }

    /// A server that never responds; the first limit that is reached ends the call.
    static let rows = [
        Row("its attempt", .unlimited, limits(5, nil, nil), .seconds(5), .timedOut),
        Row("its stall", .unlimited, limits(nil, 6, nil), .seconds(6), .stalled),
        Row("its overall limit", .unlimited, limits(nil, nil, 7), .seconds(7), .deadlineExceeded),
        Row("its attempt is shorter", limits(9, nil, nil), limits(5, nil, nil), .seconds(5), .timedOut),
        Row("the connection's attempt is shorter", limits(4, nil, nil), limits(5, nil, nil), .seconds(4), .timedOut),
        Row("its stall is shorter", limits(nil, 9, nil), limits(nil, 5, nil), .seconds(5), .stalled),
        Row("the connection's stall is shorter", limits(nil, 4, nil), limits(nil, 5, nil), .seconds(4), .stalled),
        Row("its overall limit is shorter", limits(nil, nil, 9), limits(nil, nil, 5), .seconds(5), .deadlineExceeded),
        Row(
            "the connection's overall limit is shorter",
            limits(nil, nil, 4),
            limits(nil, nil, 5),
            .seconds(4),
            .deadlineExceeded
        ),
        Row("the connection's stall before its attempt", limits(nil, 3, nil), limits(5, nil, 9), .seconds(3), .stalled),
        Row("no limit of its own", limits(4, 5, 6), .unlimited, .seconds(4), .timedOut),
    ]

    @Test(arguments: rows, [false, true])
    func theShorterTimeoutApplies(_ row: Row, isStreamed: Bool) async throws {
        let clock = ManualClock()
        let asked = Gate("the request")
        // A streamed answer has a head; its body is silent.
        let server = TestConnector { _ in
            asked.open()
            return isStreamed ? .feed(BodyFeed()) : .never
        }
        let (attempt, stall, overall) = (row.wrapper.attempt, row.wrapper.stall, row.wrapper.overall)
        let api = NetworkConnector(
            environment: .test,
            provider: server.timeLimiting(attempt: attempt, stall: stall, overall: overall),
            router: Router.self,
            configuration: ConnectionConfiguration(timeouts: row.connection, timeSource: clock)
        )
        let call = Task { () async throws(ApiConnectorError) -> Data in
            guard isStreamed else { return try await api.data(at: .me) }
            var body = Data()
            for try await chunk in api.stream(at: .me, as: .chunks) { body += chunk }
            return body
        }
        try await asked.opened()
        try await clock.step(row.end)
        let result = await call.result
        let error = try #require(throws: ApiConnectorError.self) { try result.get() }
        #expect(error.kind == row.kind)
        #expect(clock.now == row.end)
    }

    @Test(arguments: [
        (limits(nil, nil, 9), Duration.seconds(5), "timeLimiting(overall:)"),
        (limits(nil, nil, 3), .seconds(3), "Timeouts.overall"),
    ])
    func theErrorNamesTheLimitThatWasReached(_ connection: Timeouts, _ end: Duration, _ name: String) async throws {
        let clock = ManualClock()
        let api = NetworkConnector(
            environment: .test,
            provider: TestConnector { _ in .never }.timeLimiting(overall: .seconds(5)),
            router: Router.self,
            configuration: ConnectionConfiguration(timeouts: connection, timeSource: clock)
        )
        let call = Task { try await api.data(at: .me) }
        // The connection's stall timeout of one minute is a sleep, too.
        try await clock.step(end)
        let error = try await #require(throws: ApiConnectorError.self) { try await call.value }
        #expect(error.kind == .deadlineExceeded)
        #expect(error.description.contains(name), "\(error)")
    }

    @Test func insideRetryingATimeoutAppliesToOneAttempt() async throws {
        let clock = ManualClock()
        let asked = Gate("the first attempt")
        let server = TestConnector { request in
            asked.open()
            return request.attempt < 3 ? .never : .fine
        }
        let provider = server.timeLimiting(attempt: .seconds(5)).retrying(.halfWay)
        let call = Task { try await provider.response(for: Self.request(on: clock)) }
        try await asked.opened()
        try await clock.step(.seconds(5), .milliseconds(250), .seconds(5), .milliseconds(500))
        #expect(try await call.value.status == 200)
    }

    @Test func aroundRetryingTheTotalAppliesToAllAttempts() async throws {
        let clock = ManualClock()
        let (asked, gate) = (Gate("the first attempt"), Gate("the third attempt"))
        let never = TestConnector { request in
            asked.open()
            if request.attempt == 3 { gate.open() }
            return .never
        }
        let provider = never.retrying(.halfWay { $0.maximumAttemptCount = 9 })
            .timeLimiting(attempt: .seconds(5), overall: .seconds(12))
        let call = Task { try await provider.response(for: Self.request(on: clock)) }
        try await asked.opened()
        try await clock.step(.seconds(5), .milliseconds(250), .seconds(5), .milliseconds(500))
        try await gate.opened()
        clock.advance(by: .milliseconds(1250))
        let result = await call.result
        let error = try #require(throws: ApiConnectorError.self) { try result.get() }
        #expect(error.kind == .deadlineExceeded)
        #expect(error.earlierAttempts.map(\.kind) == [.timedOut, .timedOut])
    }

    @Test func aSlowReaderDoesNotCauseATimeout() async throws {
        let clock = ManualClock()
        let feed = BodyFeed()
        let provider = TestConnector { _ in .feed(feed) }.timeLimiting(attempt: .seconds(10))
        var request = Self.request(on: clock)
        request.delivery = .streamed
        let response = try await provider.response(for: request)
        var chunks = response.body.makeAsyncIterator()
        let sending = Task { try await feed.send(Data("one".utf8)) }
        #expect(try await chunks.next() == Data("one".utf8))
        try await sending.value
        #expect(try await clock.nextSleep() == .seconds(10))
        clock.advance(by: .seconds(10))
        let error = await #expect(throws: ApiConnectorError.self) { try await chunks.next() }
        #expect(error?.kind == .timedOut)
    }

    @Test func noTimerIsLeftAfterACall() async throws {
        let clock = ManualClock()
        let provider = TestConnector { _ in .fine }.timeLimiting(stall: .seconds(5))
        _ = try await provider.response(for: Self.request(on: clock))
        #expect(clock.sleeperCount == 0)
    }

    private static func request(on clock: ManualClock) -> ApiRequest {
        var request = ApiRequest(url: URL(string: "http://api.example.com/posts") ?? URL(filePath: ""))
        request.timeSource = clock
        return request
    }
}
