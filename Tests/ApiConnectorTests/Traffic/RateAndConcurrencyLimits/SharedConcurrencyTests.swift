// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// Tests of a concurrency limit that several instances share, in virtual time.
@Suite(.timeLimit(.minutes(10))) struct SharedConcurrencyTests {}

extension SharedConcurrencyTests {
    private func run(
        _ count: Int,
        _ policy: SharedLimitPolicy = SharedLimitPolicy(),
        instanceCount: Int,
        latency: Duration = .milliseconds(100)
    ) -> FleetRun {
        FleetRun(RequestLimit(concurrent: .fixed(count)), policy, instanceCount: instanceCount, latency: latency)
    }

    @Test(arguments: [1, 2, 8]) func allInstancesTogetherStayWithinTheLimit(_ instanceCount: Int) {
        var run = run(40, instanceCount: instanceCount)
        for instance in 0..<instanceCount { run.arrive(4000 / instanceCount, at: .zero, instance) }
        run.run(until: .seconds(60))
        #expect(run.starts.count == 4000)
        #expect(run.mostInFlight == 40)
        // The places are used: 4000 requests of 0.1 s in 40 places take 10 s.
        let end = run.starts.last?.time ?? .zero
        #expect(end < .seconds(15), "\(end)")
        #expect(run.inFlightCount == 0)
    }

    @Test func instancesThatCompeteGetEqualShares() {
        var run = run(40, instanceCount: 4)
        // The first instance has all places before the others send requests.
        run.arrive(4000, at: .zero, 0)
        for instance in 1..<4 { run.arrive(4000, at: .seconds(1), instance) }
        run.run(until: .seconds(5))
        for instance in 0..<4 { #expect(run.inFlightCount(of: instance) == 10) }
    }

    @Test func anInstanceThatNeedsLessLeavesTheRest() {
        var run = run(40, instanceCount: 2)
        run.arrive(10_000, at: .zero, 0)
        for step in 0..<500 { run.arrive(1, at: .milliseconds(step * 20), 1) }
        run.run(until: .seconds(9))
        // The second instance needs 5 places.
        #expect(run.inFlightCount(of: 0) >= 34)
        #expect(run.inFlightCount(of: 1) >= 4)
        #expect(run.inFlightCount >= 38)
    }

    @Test func moreInstancesThanPlacesTakeTurns() {
        var run = run(1, instanceCount: 3)
        for instance in 0..<3 { run.arrive(1000, at: .zero, instance) }
        run.run(until: .seconds(30))
        #expect(run.mostInFlight == 1)
        for instance in 0..<3 {
            let count = run.starts.count { $0.instance == instance }
            #expect(count > 40, "\(instance): \(count)")
        }
        #expect(run.starts.count > 180, "\(run.starts.count)")
    }

    @Test func aSteadyLoadCausesOneRoundTripPerRefresh() {
        var run = run(40, instanceCount: 2)
        for step in 0..<1200 { run.arrive(1, at: .milliseconds(step * 50), step % 2) }
        run.run(until: .seconds(60))
        #expect(run.starts.count == 1200)
        // Each instance asks every 2 seconds, and a few times at first.
        #expect(run.roundTripCount <= 2 * (30 + 12), "\(run.roundTripCount)")
        #expect(run.roundTripCount >= 50, "\(run.roundTripCount)")
    }

    @Test func placesOfAKilledProcessComeBack() {
        var run = run(10, instanceCount: 2, latency: .seconds(3600))
        run.arrive(10, at: .zero, 0)
        run.run(until: .seconds(3))
        #expect(run.inFlightCount(of: 0) == 10)
        run.kill(0)
        run.arrive(10, at: .seconds(4), 1)
        run.run(until: .seconds(11))
        #expect(run.inFlightCount(of: 1) == 0)
        // Instance 0 renewed its places at 2 s, for 10 s.
        run.run(until: .milliseconds(12_500))
        #expect(run.inFlightCount(of: 1) == 10)
    }

    @Test func anIdleInstanceGivesItsPlacesBack() {
        var run = run(10, instanceCount: 2)
        run.arrive(10, at: .zero, 0)
        run.arrive(10, at: .seconds(5), 1)
        run.run(until: .milliseconds(5050))
        #expect(run.inFlightCount(of: 1) == 10)
        let count = run.roundTripCount
        run.run(until: .seconds(60))
        // The instance renews its places, then gives them back, and then stops asking.
        #expect(run.roundTripCount <= count + 2, "\(run.roundTripCount) after \(count)")
    }

    @Test func withoutTheStateAnInstanceUsesItsShareOfThePlaces() {
        var run = run(40, SharedLimitPolicy(instanceCount: 4), instanceCount: 1)
        run.outage = .zero ..< .seconds(10)
        run.arrive(10_000, at: .zero, 0)
        run.run(until: .seconds(10))
        #expect(run.mostInFlight == 10)
        #expect(run.starts.count > 900)
        // The instance asks at once, and after 1, 3, 7 and 15 seconds.
        #expect(run.roundTripCount == 4)
        run.run(until: .seconds(16))
        #expect(run.inFlightCount == 40)
    }

    @Test func anInstanceThatLosesTheStateKeepsItsPlacesUntilTheirEnd() {
        var run = run(40, SharedLimitPolicy(instanceCount: 4), instanceCount: 1)
        run.arrive(10_000, at: .zero, 0)
        run.outage = .milliseconds(100) ..< .seconds(20)
        run.run(until: .seconds(9))
        #expect(run.inFlightCount == 40)
        run.run(until: .seconds(12))
        #expect(run.inFlightCount == 10)
    }

    @Test func aHoldReachesAnInstanceThatHasPlaces() {
        var run = run(40, instanceCount: 2, latency: .milliseconds(10))
        for step in 0..<2000 { run.arrive(1, at: .milliseconds(step * 10), step % 2) }
        run.run(until: .seconds(5))
        run.pause(0, for: .seconds(10))
        run.run(until: .seconds(8))
        let late = run.starts.filter { $0.time > .seconds(5) }
        // Instance 1 learns of the pause when it next renews its places.
        #expect(late.allSatisfy { $0.instance == 1 && $0.time <= .milliseconds(7050) })
        #expect(!late.isEmpty)
        run.run(until: .seconds(14))
        #expect(run.starts.last?.time ?? .zero < .seconds(8))
        run.run(until: .seconds(30))
        #expect(run.starts.count == 2000)
    }

    @Test func anInstanceAsksForTheMostPlacesThatItNeededSinceItLastAsked() {
        var places = LeasedPlaces(10, SharedLimitPolicy())
        #expect(places.ask(for: 2, using: 0, now: .zero) == LeasedPlaces.Request(wantedCount: 2, usedCount: 0))
        #expect(places.ask(for: 5, using: 0, now: .zero) == nil)
        places.grant(SharedPlaces(count: 2, isContended: false), now: .zero)
        let renewal = places.ask(for: 1, using: 1, now: .seconds(2))
        #expect(renewal == LeasedPlaces.Request(wantedCount: 5, usedCount: 1))
    }

    @Test func anAdaptiveLimitSharesOnlyThePausesOfAServer() {
        let limit = RequestLimit(concurrent: .adaptive(in: 1...40, initialCount: 10))
        var run = FleetRun(limit, SharedLimitPolicy(), instanceCount: 2, latency: .milliseconds(100))
        for instance in 0..<2 { run.arrive(10, at: .zero, instance) }
        run.run(until: .milliseconds(50))
        #expect(run.inFlightCount == 20)
        // Each instance has asked for a pause.
        #expect(run.roundTripCount == 2)
    }
}

/// Tests of the provider with a shared concurrency limit.
@Suite(.timeLimit(.minutes(10))) struct SharedConcurrencyProviderTests {
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

extension SharedConcurrencyProviderTests {
    private func provider(_ count: Int) -> Limited<HeldServer> {
        let shared = SharedLimit(named: "a", in: state, policy: SharedLimitPolicy(instanceCount: 2))
        return Limited(server, RequestLimit(concurrent: .fixed(count)), shared)
    }

    private func send(
        _ provider: some DataRequestType,
        deadline: Duration? = nil
    ) -> Task<Result<ApiResponse, ApiConnectorError>, Never> {
        Task { [timers] in await provider.result(for: .made(deadline: deadline, on: timers)) }
    }

    @Test func twoInstancesTakeTheSamePlaces() async throws {
        let one = provider(2)
        let other = provider(2)
        let first = [send(one), send(one)]
        try await server.has(2)
        let third = send(other)
        await eventually { other.waiterCount == 1 && state.count(of: .places) >= 2 }
        #expect(server.requests.count == 2)
        server.calmDown()
        for task in first { _ = try await task.value.get() }
        let answer = try await clock.moving { await third.value }.0
        _ = try answer.get()
    }

    @Test func aCallThatWaitsForAPlaceEndsAtItsDeadline() async throws {
        let one = provider(1)
        let other = provider(1)
        let first = send(one)
        try await server.has(1)
        let second = send(other, deadline: .seconds(3))
        await eventually { other.waiterCount == 1 }
        clock.advance(by: .milliseconds(2999))
        #expect(other.waiterCount == 1)
        clock.advance(by: .milliseconds(1))
        #expect(await second.value.failure?.kind == .deadlineExceeded)
        #expect(other.waiterCount == 0)
        server.calmDown()
        _ = await first.value
    }

    @Test func withoutTheStateACallIsSentAndReportsAnEvent() async throws {
        state.fail()
        let provider = provider(2)
        server.calmDown()
        _ = try await send(provider).value.get()
        _ = try await send(provider.observing(by: recorder)).value.get()
        #expect(recorder.texts.contains { $0.contains("sharedStateUnavailable") }, "\(recorder.texts)")
    }

    @Test func aServersPauseDelaysTheOtherInstancesWithoutARate() async throws {
        let one = provider(10)
        let other = provider(10)
        let first = send(one)
        try await server.has(1)
        server.answer(0, .status(503, ["Retry-After": "30"]))
        _ = await first.value
        await eventually { state.count(of: .hold) == 1 }
        let second = send(other)
        await eventually { other.waiterCount == 1 && state.count(of: .places) >= 2 }
        server.calmDown()
        let answer = try await clock.moving { await second.value }.0
        #expect(clock.now >= .seconds(30))
        _ = try answer.get()
    }

    @Test func aUsedUpQuotaDelaysTheOtherInstances() async throws {
        let one = provider(10)
        let other = provider(10)
        let first = send(one)
        try await server.has(1)
        server.answer(0, .status(200, ["RateLimit-Remaining": "0", "RateLimit-Reset": "30"]))
        _ = try await first.value.get()
        await eventually { state.count(of: .hold) == 1 }
        let second = send(other)
        server.calmDown()
        let answer = try await clock.moving { await second.value }.0
        #expect(clock.now >= .seconds(30))
        _ = try answer.get()
    }
}
