// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

@Suite(.timeLimit(.minutes(10))) struct HedgedTests {
    private let clock = ManualClock()
    private let timers: TimerQueue
    private let server = HeldServer()
    private let recorder = EventRecorder()

    init() {
        timers = TimerQueue.on(clock)
    }
}

extension HedgedTests {
    private static let policy = HedgePolicy(percentile: nil, delay: .seconds(2))

    private func send(
        _ request: ApiRequest,
        _ policy: HedgePolicy = policy,
        within timeouts: Timeouts = .unlimited
    ) -> Task<Result<ApiResponse, ApiConnectorError>, Never> {
        let provider = server.hedging(policy).observing(by: recorder)
        return Task {
            await Result { () async throws(ApiConnectorError) in try await provider.attempt(request, within: timeouts) }
        }
    }

    /// Sends a request and, when it has taken too long, lets the second one come.
    private func sendTwice(
        _ request: ApiRequest,
        within timeouts: Timeouts = .unlimited
    ) async throws -> Task<Result<ApiResponse, ApiConnectorError>, Never> {
        let call = send(request, within: timeouts)
        try await server.has(1)
        try await clock.step(.seconds(2))
        try await server.has(2)
        return call
    }

    private var hedges: [String] { recorder.texts.filter { $0.hasPrefix("hedged") } }

    @Test func aFastResponseNeedsNoSecondRequest() async throws {
        let call = send(.made(on: timers))
        try await server.has(1)
        server.answer(0, .status(204))
        #expect(try await call.value.get().status == 204)
        clock.advance(by: .seconds(10))
        #expect(server.requests.count == 1)
        #expect(hedges == [])
    }

    @Test func theSecondWinsAndTheFirstIsCanceled() async throws {
        let call = try await sendTwice(.made(on: timers))
        server.answer(1, .status(204))
        #expect(try await call.value.get().status == 204)
        // The first one is over when the call is.
        #expect(server.open == [])
        #expect(hedges == ["hedged after 2.0 seconds"])
    }

    @Test func theFirstWinsAndTheSecondIsCanceled() async throws {
        let call = try await sendTwice(.made(on: timers))
        server.answer(0, .status(204))
        #expect(try await call.value.get().status == 204)
        #expect(server.open == [])
    }

    @Test func onlyTheFirstRequestReportsUploadProgress() async throws {
        var request = ApiRequest.made(on: timers)
        request.uploadProgress = UploadProgress()
        let call = try await sendTwice(request)
        #expect(server.requests.map { $0.uploadProgress != nil } == [true, false])
        server.answer(0, .status(204))
        _ = try await call.value.get()
    }

    @Test func afterAFailureTheOtherRequestIsAwaited() async throws {
        for (failing, good) in [(0, 1), (1, 0)] {
            for failure in [HeldServer.Answer.failure(.connectionLost), .status(503)] {
                let test = HedgedTests()
                let call = try await test.sendTwice(.made(on: test.timers))
                test.server.answer(failing, failure)
                await eventually { test.server.open == [good] }
                test.server.answer(good, .status(204))
                #expect(try await call.value.get().status == 204)
            }
        }
    }

    @Test func ifBothFailTheFirstFailureIsDelivered() async throws {
        let call = try await sendTwice(.made(on: timers))
        server.answer(1, .status(503))
        await eventually { server.open == [0] }
        server.answer(0, .failure(.connectionLost))
        #expect(await call.value.failure?.kind == .connectionLost)
    }

    static let writes: [(HTTPMethod, HTTPStatus)] = [
        (.delete, 404), (.delete, 410), (.put, 409), (.put, 412), (.post, 409),
    ]

    @Test(arguments: writes) func aWriteThatSucceedsIsNotReportedAsRefused(
        _ method: HTTPMethod,
        _ refusal: HTTPStatus
    ) async throws {
        for (refused, good) in [(0, 1), (1, 0)] {
            let test = HedgedTests()
            var request = ApiRequest.made("one.example.com", method, on: test.timers)
            request.headers[.idempotencyKey] = "k"
            let call = try await test.sendTwice(request)
            test.server.answer(refused, .status(refusal))
            await eventually { test.server.open == [good] }
            test.server.answer(good, .status(204))
            #expect(try await call.value.get().status == 204)
        }
    }

    @Test func aRefusalOfAWriteIsDeliveredIfTheOtherRequestFails() async throws {
        for (refused, failing) in [(0, 1), (1, 0)] {
            let test = HedgedTests()
            let call = try await test.sendTwice(.made("one.example.com", .delete, on: test.timers))
            test.server.answer(refused, .status(404))
            await eventually { test.server.open == [failing] }
            test.server.answer(failing, .failure(.connectionLost))
            #expect(try await call.value.get().status == 404)
        }
    }

    @Test func ofTwoRefusalsOfAWriteTheFirstRequestsIsDelivered() async throws {
        let call = try await sendTwice(.made("one.example.com", .put, on: timers))
        server.answer(1, .status(409))
        await eventually { server.open == [0] }
        server.answer(0, .status(412))
        #expect(try await call.value.get().status == 412)
    }

    /// The other request may be on a connection that has died, so the call does not wait for it.
    ///
    /// The other request may be on a connection that has died.
    @Test(arguments: [400, 401, 403, 413, 422] as [HTTPStatus])
    func aRefusalThatASuccessDoesNotCauseEndsTheCall(_ status: HTTPStatus) async throws {
        for refused in [0, 1] {
            let test = HedgedTests()
            let call = try await test.sendTwice(.made("one.example.com", .put, on: test.timers))
            test.server.answer(refused, .status(status))
            #expect(try await call.value.get().status == status)
            #expect(test.server.open == [])
        }
    }

    @Test func aRefusalOfAReadEndsTheCall() async throws {
        let call = try await sendTwice(.made(on: timers))
        server.answer(1, .status(404))
        #expect(try await call.value.get().status == 404)
        #expect(server.open == [])
    }

    @Test func aFailureBeforeTheSecondRequestIsFinal() async throws {
        let call = send(.made(on: timers))
        try await server.has(1)
        server.answer(0, .failure(.connectionLost))
        #expect(await call.value.failure?.kind == .connectionLost)
        #expect(server.requests.count == 1)
    }

    @Test func aCancelEndsBoth() async throws {
        let call = try await sendTwice(.made(on: timers))
        call.cancel()
        #expect(await call.value.failure?.kind == .cancelled)
        #expect(server.open == [])
    }

    @Test func theAttemptTimeoutsApplyToEachRequest() async throws {
        let call = try await sendTwice(
            .made(on: timers),
            within: Timeouts(attempt: .seconds(3), stall: Timeouts.noLimit)
        )
        clock.advance(by: .seconds(1))
        // The first is over, the second has two more seconds.
        await eventually { server.open == [1] }
        clock.advance(by: .seconds(1))
        server.answer(1, .status(204))
        #expect(try await call.value.get().status == 204)
    }

    @Test func noSecondRequestIsSentPastTheDeadline() async throws {
        let call = send(.made(deadline: .seconds(2), on: timers))
        try await server.has(1)
        clock.advance(by: .seconds(2))
        #expect(await call.value.failure?.kind == .deadlineExceeded)
        #expect(server.requests.count == 1)
    }

    @Test func theHeadOfAStreamDecides() async throws {
        let call = try await sendTwice(.made(streamed: true, on: timers))
        server.answer(1, .stream)
        let response = try await call.value.get()
        #expect(server.open == [1])
        server.endBody(1)
        #expect(try await response.body.collect(upTo: 10) == Data())
    }

    struct Eligible: Sendable, CustomTestStringConvertible {
        let method: HTTPMethod
        var key: String?
        var body = RequestBody.empty
        var condition: HTTPHeaders.Name?
        let isHedged: Bool
        var testDescription: String {
            "\(method) \(key ?? "") \(body.isReplayable) \(condition?.rawValue ?? "")"
        }
    }

    private static let once = RequestBody.stream(isReplayable: false) { AsyncStream<Data> { $0.finish() } }

    static let eligible: [Eligible] = [
        Eligible(method: .get, isHedged: true),
        Eligible(method: .head, isHedged: true),
        Eligible(method: .put, body: .text("a"), isHedged: true),
        Eligible(method: .delete, isHedged: true),
        Eligible(method: .post, isHedged: false),
        Eligible(method: .post, key: "", isHedged: false),
        Eligible(method: .post, key: "k", isHedged: true),
        Eligible(method: .patch, isHedged: false),
        Eligible(method: "BREW", isHedged: false),
        Eligible(method: .put, body: once, isHedged: false),
        Eligible(method: .post, key: "k", body: once, isHedged: false),
        Eligible(method: .get, condition: .ifNoneMatch, isHedged: true),
        Eligible(method: .put, condition: "If-Match", isHedged: false),
        Eligible(method: .put, condition: .ifNoneMatch, isHedged: false),
        Eligible(method: .delete, condition: "If-Unmodified-Since", isHedged: false),
        Eligible(method: .delete, condition: "If", isHedged: false),
        Eligible(method: .post, key: "k", condition: "If-Match", isHedged: false),
    ]

    @Test(arguments: eligible) func onlyIdempotentRequestsAreHedged(_ row: Eligible) async throws {
        let counter = SleepCounter(clock)
        var request = ApiRequest.made("one.example.com", row.method, body: row.body, on: TimerQueue.on(counter))
        if let key = row.key { request.headers[.idempotencyKey] = key }
        if let condition = row.condition { request.headers[condition] = "\"1\"" }
        let call = send(request)
        try await server.has(1)
        if row.isHedged {
            try await clock.step(.seconds(2))
            try await server.has(2)
            #expect(server.requests.map { $0.headers[.idempotencyKey] } == [row.key, row.key])
        }
        server.calmDown()
        _ = try await call.value.get()
        #expect(counter.sleepCount == (row.isHedged ? 1 : 0))
        #expect(server.requests.count == (row.isHedged ? 2 : 1))
    }

    @Test func theBudgetIsRespected() async throws {
        let policy = HedgePolicy(
            percentile: nil,
            delay: .seconds(2),
            budget: RetryBudget(burstCount: 1, share: 0, countPerSecond: 0)
        )
        let provider = server.hedging(policy)
        let request = ApiRequest.made(on: timers)
        let first = Task { await provider.result(for: request) }
        try await server.has(1)
        try await clock.step(.seconds(2))
        try await server.has(2)
        server.answer(0)
        _ = try await first.value.get()
        let second = Task { await provider.result(for: request) }
        try await server.has(3)
        try await clock.step(.seconds(2))
        server.answer(2)
        _ = try await second.value.get()
        #expect(server.requests.count == 3)
    }

    @Test(arguments: [.seconds(Int64.max), .seconds(Int64.max - 1), .zero, .seconds(-1)] as [Duration])
    func anAbsurdDelayDoesNotTrap(_ delay: Duration) async throws {
        // On the machine's own clocks.
        let request = ApiRequest.made(on: TimerQueue.on(.system))
        let provider = server.hedging(HedgePolicy(percentile: nil, delay: delay, minimumDelay: delay))
        let call = Task { await provider.result(for: request) }
        try await server.has(delay > .zero ? 1 : 2)
        server.answer(0)
        #expect(try await call.value.get().status == 200)
    }

    @Test func aRefreshIsSentOnce() async throws {
        let provider = server.hedging(Self.policy)
        let counter = SleepCounter(clock)
        let timers = TimerQueue.on(counter)
        let request = ApiRequest.made(on: timers)
        let session = RefreshableCredentials(timeSource: clock) { _ in
            _ = try await provider.response(for: .made(on: timers))
            return .bearer("new")
        }
        let call = Task { try await session.credential(for: request) }
        try await server.has(1)
        server.calmDown()
        #expect(try await call.value != nil)
        #expect(counter.sleepCount == 0)
        #expect(server.requests.count == 1)
    }

    @Test func theDelayIsAPercentileOfEarlierCalls() {
        let latencies = SeenLatencies()
        guard let key = SeenLatencies.Key(.made(on: timers)) else { return }
        for number in 1...19 { latencies.add(.milliseconds(number), to: key) }
        #expect(latencies.percentile(0.95, of: key) == nil)
        latencies.add(.milliseconds(20), to: key)
        #expect(latencies.percentile(0.95, of: key) == .milliseconds(19))
        #expect(latencies.percentile(0.5, of: key) == .milliseconds(10))
        #expect(latencies.percentile(7, of: key) == .milliseconds(20))
        #expect(latencies.percentile(-7, of: key) == .milliseconds(1))
        // The newest 128 are kept.
        for number in 101...228 { latencies.add(.milliseconds(number), to: key) }
        #expect(latencies.percentile(0, of: key) == .milliseconds(101))
        #expect(latencies.percentile(1, of: key) == .milliseconds(228))
    }

    @Test func theSecondRequestIsSentAfterThePercentile() async throws {
        let provider = server.hedging(HedgePolicy(delay: .seconds(30))).observing(by: recorder)
        let request = ApiRequest.made(on: timers)
        for number in 0..<20 {
            let call = Task { await provider.result(for: request) }
            try await server.has(number + 1)
            clock.advance(by: .seconds(number < 19 ? 1 : 5))
            server.answer(number)
            _ = try await call.value.get()
        }
        let slow = Task { await provider.result(for: request) }
        try await server.has(21)
        try await clock.step(.seconds(1))
        try await server.has(22)
        server.calmDown()
        _ = try await slow.value.get()
        #expect(hedges == ["hedged after 1.0 seconds"])
    }

    @Test func theNumberOfKnownRoutesIsBounded() {
        let latencies = SeenLatencies()
        for number in 0..<300 {
            guard let key = SeenLatencies.Key(.made("h\(number)", on: timers)) else { continue }
            latencies.add(.seconds(1), to: key)
        }
        #expect(latencies.count == SeenLatencies.maximumCount)
    }
}

/// Counts the sleeps that begin on a clock.
///
/// A hedged call sleeps before its second request, and ends only after this sleep has begun. So a call that has ended
/// without a sleep was not hedged.
private final class SleepCounter: TimeSource {
    private let clock: ManualClock
    private let count = Locked(0)

    init(_ clock: ManualClock) {
        self.clock = clock
    }

    var sleepCount: Int { count.withLock { $0 } }
    var now: Duration { clock.now }
    var date: Date { clock.date }

    func sleep(until deadline: Duration) async throws {
        count.withLock { $0 += 1 }
        try await clock.sleep(until: deadline)
    }

    func schedule(at due: Duration, _ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        clock.schedule(at: due, action)
    }
}
