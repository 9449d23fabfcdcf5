// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Foundation
import Testing

/// A user's retrying wrapper, which must pass the tests of the built-in wrapper.
@Suite(.timeLimit(.minutes(10))) struct SimpleRetryTests {
    private let clock = ManualClock()
    private let arrivals = Arrivals()
}

extension SimpleRetryTests {
    /// A server whose first responses are some, and whose last one is `"done"`.
    private func api(
        _ timeouts: Timeouts = .unlimited,
        _ events: EventList = EventList(),
        _ responses: TestConnectorResponse...
    ) -> Connection {
        let server = TestConnector { [arrivals] _ in
            let number = arrivals.note()
            return number <= responses.count ? responses[number - 1] : .json("done")
        }
        return SimpleRetry(wrapped: server).connected(on: clock, timeouts, events)
    }

    @Test func retriesTimedOutAttempts() async throws {
        let api = api(Timeouts(attempt: .seconds(10), stall: Timeouts.noLimit), EventList(), .never, .never)
        async let value = api.value(String.self, at: Route("/a"))
        for wait in 1...2 {
            await arrivals.next()
            try await clock.pass(.seconds(10))
            try await clock.pass(.seconds(wait))
        }
        #expect(try await value == "done")
    }

    /// A transport that delivers bodies as they come, and applies no time limits.
    ///
    /// The first body never ends.
    private struct PlainTransport: DataRequestType {
        let arrivals: Arrivals

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            let chunks = AsyncStream<Data> { continuation in
                guard arrivals.note() > 1 else { return }
                continuation.yield(Data("\"done\"".utf8))
                continuation.finish()
            }
            return ApiResponse(to: request, status: 200, body: ResponseBody(chunks: chunks))
        }
    }

    @Test(arguments: [
        Timeouts(attempt: nil, stall: .seconds(10)), Timeouts(attempt: .seconds(10), stall: Timeouts.noLimit),
    ])
    func retriesABodyThatNeverEnds(_ timeouts: Timeouts) async throws {
        let api = SimpleRetry(wrapped: PlainTransport(arrivals: arrivals)).connected(on: clock, timeouts)
        async let value = api.value(String.self, at: Route("/a"))
        await arrivals.next()
        try await clock.pass(.seconds(10))
        try await clock.pass(.seconds(1))
        #expect(try await value == "done")
        #expect(arrivals.total == 2)
    }

    @Test func reportsAttemptsInTheErrorAndToObservers() async throws {
        let events = EventList()
        let lost = TestConnectorResponse.failure(ApiConnectorError(.connectionLost, "it broke"))
        let api = api(
            .unlimited,
            events,
            .status(503, headers: ["Retry-After": "7"]),
            lost,
            .status(500)
        )
        async let result = outcome { try await api.data(at: Route("/a")) }
        try await clock.pass(.seconds(7))
        try await clock.pass(.seconds(2))
        let error = try #require(await result)
        #expect(error.kind == .unacceptableStatus)
        #expect(error.request?.attempt == 3)
        #expect(error.earlierAttempts.map(\.wait) == [.seconds(7), .seconds(2)])
        #expect(error.earlierAttempts.map(\.kind) == [.unacceptableStatus, .connectionLost])
        #expect(error.retryStop == .attemptLimit)
        #expect(
            error.description.contains("The request was not sent again: the policy's maximum attempt count is reached.")
        )
        #expect(
            events.decisions == [
                "retrying after 7.0 seconds because of a failure that may pass",
                "retrying after 2.0 seconds because of a failure that may pass", "not retrying because of attemptLimit",
            ]
        )
    }

    @Test func doesNotWaitPastTheDeadline() async throws {
        let api = api(
            Timeouts(attempt: nil, stall: Timeouts.noLimit, overall: .seconds(5)),
            EventList(),
            .status(503, headers: ["Retry-After": "5"])
        )
        let error = await outcome { try await api.data(at: Route("/a")) }
        #expect(error?.response?.status == 503)
        #expect(clock.now == .zero)
    }

    @Test func aCanceledCallEndsItsWait() async throws {
        let api = api(.unlimited, EventList(), .status(503))
        let call = Task { await outcome { try await api.data(at: Route("/a")) } }
        _ = try await clock.nextSleep()
        call.cancel()
        #expect(await call.value?.kind == .cancelled)
        #expect(arrivals.total == 1)
    }

    @Test func repeatsEachHopOfARedirectByItself() async throws {
        let moved = TestConnectorResponse.status(302, headers: ["Location": "/b"])
        let api = api(.unlimited, EventList(), .status(503), moved, .status(503))
        async let value = api.value(String.self, at: Route("/a"))
        try await clock.pass(.seconds(1))
        try await clock.pass(.seconds(1))
        #expect(try await value == "done")
        #expect(arrivals.total == 4)
    }

    @Test func doesNotRetryUnsafeRequests() async throws {
        let api = api(.unlimited, EventList(), .status(503))
        let error = await outcome { try await api.data(at: Route("/a", .post)) }
        #expect(error?.response?.status == 503)
        #expect(arrivals.total == 1)
    }

    @Test func anErrorHasTheReasonForTheMissingRetry() async throws {
        let lost = TestConnectorResponse.failure(ApiConnectorError(.connectionLost, "it broke"))
        let api = api(.unlimited, EventList(), lost)
        let error = try #require(await outcome { try await api.data(at: Route("/a", .post)) })
        #expect(error.retryStop == .notIdempotent)
        #expect(error.description.contains("an Idempotency-Key would allow a retry"))
    }

    @Test func doesNotRetryAPermanentFailure() async throws {
        var refused = ApiConnectorError(.cannotConnect, "the proxy refused it")
        refused.isPermanent = true
        let api = api(.unlimited, EventList(), .failure(refused))
        let error = await outcome { try await api.data(at: Route("/a")) }
        #expect(error?.retryStop == .notTransient)
        #expect(arrivals.total == 1)
    }

    @Test func doesNotRetryARefresh() async throws {
        let api = api(.unlimited, EventList(), .status(503))
        let options = CallOptions(isCredentialRefresh: true)
        let error = await outcome { try await api.data(at: Route("/a"), options: options) }
        #expect(error?.response?.status == 503)
        #expect(error?.retryStop == nil)
        #expect(arrivals.total == 1)
    }

    private static let eagerPolicy = RetryPolicy(
        maximumAttemptCount: 4,
        initialDelay: .zero,
        maximumDelay: .zero,
        budget: .unlimited
    )

    private static let brokenEvent = TestConnectorResponse.chunks(
        [Data("data: one\n\n".utf8)],
        headers: ["Content-Type": "text/event-stream"]
    )
    .failing(.afterByteCount(11), with: ApiConnectorError(.connectionLost, "it broke"))

    /// The error that ends a stream which delivers one event, and then fails with each request.
    private func endOfStream(_ tokens: RetryBuckets) async throws -> ApiConnectorError {
        let server = TestConnector { [arrivals] _ in
            arrivals.note() == 1 ? Self.brokenEvent : .failure(ApiConnectorError(.connectionLost, "it broke"))
        }
        let api = SimpleRetry(wrapped: server, tokens: tokens).connected(on: clock)
        var read: [String] = []
        let error = await outcome {
            let events = api.stream(
                of: ServerSentEvent.self,
                at: Route("/a"),
                as: .events.resuming(Self.eagerPolicy)
            )
            for try await event in events { read.append(event.data) }
        }
        #expect(read == ["one"])
        return try #require(error)
    }

    @Test func doesNotMultiplyTheAttemptsOfAStream() async throws {
        let error = try await endOfStream(RetryBuckets(.unlimited))
        #expect(error.retryStop == .attemptLimit)
        #expect(arrivals.total == 5)
    }

    @Test func aStreamTakesItsRetriesFromTheBudget() async throws {
        let tokens = RetryBuckets(RetryBudget(burstCount: 2, share: 0, countPerSecond: 0))
        let error = try await endOfStream(tokens)
        #expect(error.retryStop == .budget)
        // The first connection after an element takes no token.
        #expect(arrivals.total == 4)
    }

    @Test func retriesAStreamThatBreaksOffBeforeItsFirstChunk() async throws {
        let broken = TestConnectorResponse.chunks([Data("lost\n".utf8)])
            .failing(.afterByteCount(0), with: ApiConnectorError(.connectionLost, "it broke"))
        let api = api(.unlimited, EventList(), broken, .chunks([Data("one\n".utf8)]))
        async let lines = api.stream(of: String.self, at: Route("/a"), as: .lines).all()
        try await clock.pass(.seconds(1))
        #expect(try await lines == ["one"])
        #expect(arrivals.total == 2)
    }

    @Test func aStreamThatSendsNothingStalls() async throws {
        let api = api(
            Timeouts(attempt: nil, stall: .seconds(10)),
            EventList(),
            .feed(BodyFeed()),
            .chunks([Data("one\n".utf8)])
        )
        async let lines = api.stream(of: String.self, at: Route("/a"), as: .lines).all()
        try await clock.pass(.seconds(10))
        try await clock.pass(.seconds(1))
        #expect(try await lines == ["one"])
    }

    @Test func retriesAStreamByItsHead() async throws {
        let lines = TestConnectorResponse.chunks([Data("one\n".utf8)])
            .failing(.afterByteCount(4), with: ApiConnectorError(.connectionLost, "it broke"))
        let api = api(.unlimited, EventList(), .status(503), lines)
        let reader = Task { () async throws -> ([String], ApiConnectorError?) in
            var read: [String] = []
            do {
                for try await line in api.stream(of: String.self, at: Route("/a"), as: .lines) {
                    read.append(line)
                }
            } catch {
                return (read, error as? ApiConnectorError)
            }
            return (read, nil)
        }
        try await clock.pass(.seconds(1))
        let (read, error) = try await reader.value
        #expect(read == ["one"])
        #expect(error?.kind == .connectionLost)
        #expect(arrivals.total == 2)
    }
}

/// The error that a call fails with; nil if it does not.
func outcome<Value>(_ call: () async throws -> Value) async -> ApiConnectorError? {
    do {
        _ = try await call()
        return nil
    } catch {
        return error as? ApiConnectorError
    }
}
