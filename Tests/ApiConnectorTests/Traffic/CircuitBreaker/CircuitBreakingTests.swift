// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

@Suite(.timeLimit(.minutes(10))) struct CircuitBreakingTests {
    private let clock = ManualClock()
    private let timers: TimerQueue

    init() {
        timers = TimerQueue.on(clock)
    }
}

extension CircuitBreakingTests {
    /// Whether a host is left alone after four requests that come to this.
    private func isLeftAlone(after answer: TestConnectorResponse) async -> Bool {
        let provider = TestConnector { _ in answer }.circuitBreaking(.small)
        for _ in 0..<4 { _ = await provider.result(for: .made(on: timers)) }
        return await provider.result(for: .made(on: timers)).failure?.kind == .circuitOpen
    }

    @Test(arguments: [500, 502, 503, 504] as [HTTPStatus]) func aFailureStatusCounts(_ status: HTTPStatus)
        async
    {
        #expect(await isLeftAlone(after: .status(status)))
    }

    @Test(arguments: [200, 302, 400, 401, 404, 408, 429, 501] as [HTTPStatus]) func anyOtherStatusIsASuccess(
        _ status: HTTPStatus
    ) async {
        #expect(await !isLeftAlone(after: .status(status)))
    }

    @Test(
        arguments: [.nameNotResolved, .cannotConnect, .connectionLost, .timedOut, .stalled, .malformedResponse]
            as [ApiConnectorError.Kind]
    )
    func aFailureKindCounts(_ kind: ApiConnectorError.Kind) async {
        #expect(await isLeftAlone(after: .failing(kind)))
    }

    @Test(
        arguments: [.cancelled, .deadlineExceeded, .invalidRequest, .credentialsUnavailable, .bodyTooLarge, .other]
            as [ApiConnectorError.Kind]
    )
    func anyOtherKindIsIgnored(_ kind: ApiConnectorError.Kind) async {
        #expect(await !isLeftAlone(after: .failing(kind)))
    }

    @Test func theErrorNamesTheHostAndTheTimesOfItsCircuit() async throws {
        let provider = TestConnector { _ in .status(503) }.circuitBreaking(.small)
        clock.advance(by: .seconds(60))
        for _ in 0..<4 { _ = try await provider.response(for: .made(on: timers)) }
        clock.advance(by: .seconds(4))
        let error = try #require(await provider.result(for: .made(on: timers)).failure)
        #expect(
            error.description
                == "GET http://one.example.com/ failed (circuitOpen): requests to http://one.example.com kept failing; "
                + "its circuit is open since 2026-01-01T00:01:00Z, until 2026-01-01T00:01:10Z, in 6.0 seconds. Wait: the "
                + "circuit breaker soon tries the host again."
        )
        let circuit = try #require(error.underlying as? OpenCircuit)
        #expect(circuit.origin == "http://one.example.com")
        #expect(circuit.since == clock.date.addingTimeInterval(-4))
        #expect(circuit.until == clock.date.addingTimeInterval(6))
    }

    @Test(arguments: [.seconds(Int64.max), .zero, .seconds(-1)] as [Duration]) func anAbsurdDurationDoesNotTrap(
        _ duration: Duration
    ) async {
        let policy = CircuitPolicy(window: duration, minimumCount: 1, openDuration: duration)
        let provider = TestConnector { _ in .status(503) }.circuitBreaking(policy)
        for _ in 0..<3 { _ = await provider.result(for: .made(on: timers)) }
        let error = await provider.result(for: .made(on: timers)).failure
        #expect((error?.kind == .circuitOpen) == (duration > .zero))
    }

    @Test func theErrorSaysThatATrialRequestIsRunning() async throws {
        let server = HeldServer()
        let provider = server.circuitBreaking(.small { $0.minimumCount = 1 })
        let (request, timers) = (ApiRequest.made(on: timers), timers)
        let first = Task { await provider.result(for: request) }
        try await server.has(1)
        server.answer(0, .failure(.cannotConnect))
        _ = await first.value
        clock.advance(by: .seconds(10))
        let probe = Task { await provider.result(for: request) }
        try await server.has(2)
        let error = await provider.result(for: .made(on: timers)).failure
        #expect(
            error?.detail
                == "requests to http://one.example.com kept failing; its circuit is open "
                + "since 2026-01-01T00:00:00Z, "
                + "until a trial request succeeds"
        )
        // A cancel leaves it to the next.
        probe.cancel()
        #expect(await probe.value.failure?.kind == .cancelled)
        server.calmDown()
        #expect(try await provider.response(for: .made(on: timers)).status == 200)
        #expect(server.requests.count == 3)
    }

    @Test func eachHostHasItsOwnCircuit() async throws {
        let provider = TestConnector { $0.url.host() == "one.example.com" ? .status(503) : .fine }.circuitBreaking(
            .small
        )
        for _ in 0..<4 { _ = try await provider.response(for: .made("one.example.com", on: timers)) }
        #expect(await provider.result(for: .made("one.example.com:80", on: timers)).failure?.kind == .circuitOpen)
        #expect(try await provider.response(for: .made("two.example.com", on: timers)).status == 200)
        #expect(try await provider.response(for: .made("one.example.com:81", on: timers)).status == 503)
    }

    @Test func aRefusedAttemptIsNotRetried() async throws {
        let count = Locked(0)
        let recorder = EventRecorder()
        let transport = TestConnector { _ in
            count.withLock { $0 += 1 }
            return .status(503)
        }
        let policy = RetryPolicy(maximumAttemptCount: 10, initialDelay: .zero, random: { 0 })
        let provider = transport.circuitBreaking(.small).retrying(policy).observing(by: recorder)
        let error = try #require(await provider.result(for: .made(on: timers)).failure)
        #expect(error.kind == .circuitOpen)
        #expect(error.retryStop == .notTransient)
        #expect(error.earlierAttempts.map(\.status) == [503, 503, 503, 503])
        #expect(count.withLock { $0 } == 4)
        #expect(recorder.texts.filter { $0.hasPrefix("circuit") } == ["circuit: opened", "circuit: refused"])
    }

    @Test func aTimedOutAttemptIsAFailure() async throws {
        let server = HeldServer()
        let provider = server.circuitBreaking(.small { $0.minimumCount = 1 })
        let request = ApiRequest.made(on: timers)
        let call = Task {
            await Result { () async throws(ApiConnectorError) in
                try await provider.attempt(request, within: Timeouts(attempt: .seconds(2)))
            }
        }
        try await server.has(1)
        clock.advance(by: .seconds(2))
        #expect(await call.value.failure?.kind == .timedOut)
        #expect(await provider.result(for: request).failure?.kind == .circuitOpen)
    }

    @Test func aRefreshIsNeitherRefusedNorCounted() async throws {
        let circuit = TestConnector { $0.url.path() == "/token" ? .fine : .status(503) }
            .circuitBreaking(.small { $0.minimumCount = 1 })
        _ = try await circuit.response(for: .made(on: timers))
        let session = RefreshableCredentials(timeSource: clock) { _ in
            let response = try await circuit.response(for: .made(path: "/token", on: timers))
            return .bearer("\(response.status)")
        }
        #expect(try await session.credential(for: .made(on: timers)) != nil)
        #expect(await circuit.result(for: .made(on: timers)).failure?.kind == .circuitOpen)
    }

    @Test func theNumberOfCircuitsIsBounded() {
        let circuits = Circuits(.small)
        for number in 0..<300 {
            guard let origin = URL(string: "http://h\(number)").flatMap({ HTTPOrigin($0) }) else { continue }
            _ = circuits.admit(origin, now: .seconds(number))
        }
        #expect(circuits.count == Circuits.maximumCount)
    }
}
