// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// A rate that several instances share.
@Suite(.timeLimit(.minutes(10))) struct SharedLimitTests {
    private let rate = RequestRate(1000, per: .seconds(1), burstCount: 200)
}

extension SharedLimitTests {
    /// The most starts in any second.
    private func most(_ run: FleetRun, in length: Duration = .seconds(1)) -> Int {
        let times = run.starts.map(\.time)
        var most = 0
        var first = 0
        for (index, time) in times.enumerated() {
            while times[first] <= time - length { first += 1 }
            most = max(most, index - first + 1)
        }
        return most
    }

    @Test(arguments: [1, 2, 8]) func allInstancesTogetherStayWithinTheRate(_ instanceCount: Int) {
        let policy = SharedLimitPolicy(batchCount: 100)
        var run = FleetRun(rate, policy, instanceCount: instanceCount)
        for instance in 0..<instanceCount { run.arrive(8000 / instanceCount, at: .zero, instance) }
        run.run(until: .seconds(10))
        #expect(run.starts.count == 8000)
        #expect(most(run) <= 1000 + 200 + instanceCount * 100)
        // The rate is used: 8000 requests take a little less than 8 seconds.
        let end = run.starts.last?.time ?? .zero
        #expect(end >= .seconds(7) && end <= .seconds(9), "\(end)")
        #expect(run.roundTripCount <= 8000 / 100 + instanceCount * 12, "\(run.roundTripCount)")
        // Each gets its part.
        for instance in 0..<instanceCount {
            let half = run.starts.prefix(4000).count { $0.instance == instance }
            #expect(half > 4000 / instanceCount / 2, "\(instance): \(half)")
        }
    }

    @Test func rareRequestsTakeFewTokens() {
        var run = FleetRun(RequestRate(10, per: .seconds(1), burstCount: 5), SharedLimitPolicy(), instanceCount: 2)
        for second in 0..<60 { run.arrive(1, at: .seconds(second), 0) }
        // The other one finds the bucket almost full.
        run.arrive(4, at: .milliseconds(60_500), 1)
        run.run(until: .milliseconds(60_600))
        #expect(run.starts.count == 64)
    }

    @Test func withoutTheStateAnInstanceUsesItsShareOfTheRate() {
        let policy = SharedLimitPolicy(batchCount: 10, instanceCount: 4)
        var run = FleetRun(RequestRate(100, per: .seconds(1)), policy, instanceCount: 1)
        run.outage = .zero ..< .seconds(10)
        run.arrive(1000, at: .zero, 0)
        run.run(until: .seconds(10))
        #expect((240...255).contains(run.starts.count), "\(run.starts.count)")
        // It asks now and then: after 1, 3, 7 seconds and so on.
        #expect(run.roundTripCount == 4)
        run.run(until: .seconds(20))
        #expect(run.waiterCount < 400, "\(run.waiterCount)")
    }

    @Test func aHoldReachesAnInstanceThatHasTokens() {
        let policy = SharedLimitPolicy(batchCount: 200)
        var run = FleetRun(RequestRate(1000, per: .seconds(1), burstCount: 1000), policy, instanceCount: 2)
        // Instance 1 has used tokens fast, so it holds many, and then needs few.
        run.arrive(400, at: .zero, 1)
        for step in 0..<300 { run.arrive(1, at: .milliseconds(1000 + step * 50), 1) }
        run.run(until: .seconds(5))
        run.pause(0, for: .seconds(5))
        run.run(until: .milliseconds(9900))
        #expect(run.starts.last?.time ?? .zero <= .milliseconds(7100))
        #expect(run.starts.count > 400)
        run.run(until: .seconds(30))
        #expect(run.starts.count == 700)
    }

    @Test func oneRoundTripServesOneHundredRequests() {
        let policy = SharedLimitPolicy()
        var run = FleetRun(RequestRate(5000, per: .seconds(1), burstCount: 500), policy, instanceCount: 8)
        for instance in 0..<8 { run.arrive(3000, at: .zero, instance) }
        run.run(until: .seconds(30))
        #expect(run.starts.count == 24_000)
        #expect(run.roundTripCount <= 240, "\(run.roundTripCount)")
        #expect(most(run) <= 5000 + 500 + 8 * policy.batchCount * 3 / 2)
    }

    @Test func aSlowLimitNeedsAFewRoundTripsPerSecond() {
        // Each of 8 instances sends an eighth of the rate.
        var run = FleetRun(RequestRate(100, per: .seconds(1), burstCount: 20), SharedLimitPolicy(), instanceCount: 8)
        for step in 0..<6000 { run.arrive(1, at: .milliseconds(step * 10), step % 8) }
        run.run(until: .seconds(70))
        #expect(run.starts.count == 6000)
        #expect(run.roundTripCount <= 6000 / 8, "\(run.roundTripCount)")
        #expect(run.roundTripCount >= 6000 / 100, "\(run.roundTripCount)")
    }

    @Test func aBurstOfAllInstancesIsAtMostTheirBatches() {
        let policy = SharedLimitPolicy()
        var run = FleetRun(RequestRate(100, per: .seconds(1), burstCount: 20), policy, instanceCount: 10)
        // The instances fill their batches one after the other, and keep the tokens.
        for instance in 0..<10 { run.arrive(600, at: .seconds(instance * 100), instance) }
        run.run(until: .seconds(2000))
        #expect(run.starts.count == 6000)
        for instance in 0..<10 { run.arrive(1000, at: .seconds(2000), instance) }
        run.run(until: .seconds(2001))
        let burst = run.starts.count - 6000
        #expect(burst <= 100 + 20 + 10 * policy.batchCount * 3 / 2, "\(burst)")
        // The guide's number is not far from what can happen.
        #expect(burst >= 1000, "\(burst)")
    }

    @Test(arguments: [RequestLimit(concurrent: .adaptive()), RequestLimit()]) func aHoldReachesInstancesWithoutARate(
        _ limit: RequestLimit
    ) {
        var run = FleetRun(limit, SharedLimitPolicy(), instanceCount: 2, latency: .milliseconds(10))
        for step in 0..<400 { run.arrive(1, at: .milliseconds(step * 50), 1) }
        run.run(until: .seconds(5))
        run.pause(0, for: .seconds(8))
        run.run(until: .milliseconds(12_900))
        #expect(run.starts.last?.time ?? .zero <= .milliseconds(7100))
        #expect(run.starts.count > 90)
        run.run(until: .seconds(30))
        #expect(run.starts.count == 400)
        // The instance asks every 2 seconds.
        #expect(run.roundTripCount <= 12, "\(run.roundTripCount)")
    }

    @Test func aHoldThatTheStateDidNotTakeIsRepeated() {
        let rate = RequestRate(100, per: .seconds(1), burstCount: 100)
        var run = FleetRun(rate, SharedLimitPolicy(), instanceCount: 2)
        run.outage = .zero ..< .milliseconds(500)
        run.pause(0, for: .seconds(30))
        run.run(until: .seconds(2))
        run.arrive(1, at: .seconds(2), 1)
        run.run(until: .seconds(29))
        #expect(run.starts.isEmpty)
        run.run(until: .seconds(31))
        #expect(run.starts.count == 1)
    }

    @Test func aTokenThatWasTakenInAdvanceIsUsedOnce() {
        var bucket = SharedTokenBucket(RequestRate(1, per: .seconds(1)), SharedLimitPolicy())
        _ = bucket.ask(for: 2, now: .zero)
        bucket.grant(SharedTokens(readyCount: 0, aheadCount: 2, wait: .seconds(1)), now: .zero)
        let now = Duration.seconds(100)
        _ = bucket.ask(for: 0, now: now)
        #expect(bucket.start(behind: 1, now: now) == now)
        #expect(bucket.start(behind: 2, now: now) == nil)
    }

    @Test(arguments: [("1", nil), ("0", .seconds(30))] as [(String, Duration?)])
    func onlyAUsedUpQuotaIsAPauseForTheOtherInstances(_ remaining: String, _ hold: Duration?) {
        var queue = LimitQueue(RequestLimit(rate: rate), SharedLimitPolicy())
        let fields: HTTPHeaders = ["RateLimit-Remaining": remaining, "RateLimit-Reset": "30"]
        let limits = ServerLimits(fields, status: 200, date: Date(timeIntervalSince1970: 0))
        queue.answer(1, .success, limits, now: .zero)
        #expect(queue.turn(now: .zero).hold == hold)
    }

    @Test func aHoldDelaysAllInstances() {
        let policy = SharedLimitPolicy(batchCount: 10)
        var run = FleetRun(RequestRate(100, per: .seconds(1), burstCount: 10), policy, instanceCount: 2)
        run.hold(.seconds(5))
        for instance in 0..<2 { run.arrive(50, at: .zero, instance) }
        run.run(until: .seconds(5))
        #expect(run.starts.isEmpty)
        run.run(until: .seconds(8))
        #expect(run.starts.count == 100)
    }
}

/// The provider over shared state.
@Suite(.timeLimit(.minutes(10))) struct SharedLimitProviderTests {
    private let clock = ManualClock()
    private let timers: TimerQueue
    private let server = HeldServer()
    private let state: UnreliableState
    private let recorder = EventRecorder()

    init() {
        timers = TimerQueue.on(clock)
        state = UnreliableState(MemorySharedState(timeSource: clock))
    }
}

extension SharedLimitProviderTests {
    private func provider(_ rate: RequestRate) -> Limited<HeldServer> {
        let shared = SharedLimit(named: "a", in: state, policy: SharedLimitPolicy(instanceCount: 2))
        return Limited(server, RequestLimit(rate: rate), shared)
    }

    private func send(_ provider: Limited<HeldServer>) -> Task<Result<ApiResponse, ApiConnectorError>, Never> {
        Task { [timers] in await provider.result(for: .made(on: timers)) }
    }

    @Test func twoInstancesTakeFromOneBucket() async throws {
        let rate = RequestRate(1, per: .seconds(10), burstCount: 2)
        let one = provider(rate)
        let other = provider(rate)
        server.calmDown()
        _ = try await send(one).value.get()
        _ = try await send(other).value.get()
        let third = send(one)
        await eventually { one.waiterCount == 1 }
        #expect(server.requests.count == 2)
        let answer = try await clock.moving { await third.value }.0
        #expect(clock.now >= .seconds(10))
        _ = try answer.get()
    }

    @Test func aServersPauseDelaysTheOtherInstances() async throws {
        let rate = RequestRate(100, per: .seconds(1), burstCount: 100)
        let one = provider(rate)
        let other = provider(rate)
        let first = send(one)
        try await server.has(1)
        server.answer(0, .status(429, ["Retry-After": "30"]))
        _ = await first.value
        await eventually { state.count(of: .hold) == 1 }
        let second = send(other)
        await eventually { other.waiterCount == 1 && state.count(of: .take) >= 2 }
        #expect(server.requests.count == 1)
        server.calmDown()
        let start = clock.now
        let answer = try await clock.moving { await second.value }.0
        #expect(clock.now - start >= .seconds(30))
        _ = try answer.get()
    }

    @Test func aServersPauseThatTheStateDidNotTakeReachesTheOthersLater() async throws {
        let rate = RequestRate(100, per: .seconds(1), burstCount: 100)
        let (one, other) = (provider(rate), provider(rate))
        let first = send(one)
        try await server.has(1)
        state.fail { $0 == .hold }
        server.answer(0, .status(429, ["Retry-After": "30"]))
        _ = await first.value
        await eventually { state.count(of: .hold) == 1 }
        state.fail { _ in false }
        try await clock.step(.seconds(1))
        await eventually { state.count(of: .hold) == 2 }
        let second = send(other)
        await eventually { other.waiterCount == 1 && state.count(of: .take) >= 2 }
        #expect(server.requests.count == 1)
        server.calmDown()
        let answer = try await clock.moving { await second.value }.0
        #expect(clock.now >= .seconds(30))
        _ = try answer.get()
    }

    @Test func anAdaptiveLimitLearnsOfAPause() async throws {
        let shared = SharedLimit(named: "a", in: state)
        let one = Limited(server, RequestLimit(concurrent: .adaptive()), shared)
        let other = Limited(server, RequestLimit(concurrent: .adaptive()), shared)
        let first = send(one)
        try await server.has(1)
        server.answer(0, .status(429, ["Retry-After": "30"]))
        _ = await first.value
        await eventually { state.count(of: .hold) == 1 }
        server.calmDown()
        // The first request of the other instance is sent. Meanwhile the instance learns of the pause.
        var failure: ApiConnectorError?
        while failure == nil {
            failure = await other.result(for: .made(deadline: .seconds(10), on: timers)).failure
        }
        #expect(failure?.kind == .deadlineExceeded)
        #expect(failure?.detail.contains("30") == true)
    }

    @Test func withoutTheStateACallIsSentAndReportsAnEvent() async throws {
        state.fail()
        let provider = provider(RequestRate(1, per: .seconds(1)))
        server.calmDown()
        _ = try await send(provider).value.get()
        let observed = provider.observing(by: recorder)
        _ = await observed.result(for: .made(deadline: clock.now, on: timers))
        #expect(recorder.texts.contains { $0.contains("sharedStateUnavailable") }, "\(recorder.texts)")
    }
}
