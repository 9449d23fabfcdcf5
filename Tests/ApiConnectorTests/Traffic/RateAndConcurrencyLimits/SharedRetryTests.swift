// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// Tests of a retry budget that several instances share.
@Suite(.timeLimit(.minutes(10))) struct SharedRetryTests {
    private let clock = ManualClock()
    private let timers: TimerQueue
    private let state: UnreliableState
    private let recorder = EventRecorder()

    init() {
        timers = TimerQueue.on(clock)
        state = UnreliableState(MemorySharedState(timeSource: clock))
    }
}

extension SharedRetryTests {
    private func tokens(_ budget: RetryBudget, instanceCount: Int = 2) -> SharedRetryTokens {
        let policy = SharedLimitPolicy(instanceCount: instanceCount)
        return SharedRetryTokens(budget, SharedLimit(named: "a", in: state, policy: policy))
    }

    /// Takes retries of a host until one is refused, and returns their number.
    private func takes(_ tokens: SharedRetryTokens, _ host: String = "one.example.com") async -> Int {
        var count = 0
        while count < 1000, await tokens.take(for: .made(host, on: timers)) { count += 1 }
        return count
    }

    @Test func allInstancesTogetherHaveOneBudget() async {
        let budget = RetryBudget(burstCount: 20, share: 0, countPerSecond: 1)
        let instances = (0..<4).map { _ in tokens(budget, instanceCount: 4) }
        var counts: [Int] = []
        for instance in instances { counts.append(await takes(instance)) }
        #expect(counts.reduce(0, +) == 20, "\(counts)")
        #expect(counts[0] > 10)
        clock.advance(by: .seconds(6))
        counts = []
        for instance in instances { counts.append(await takes(instance)) }
        #expect(counts.reduce(0, +) == 6, "\(counts)")
    }

    @Test func tokensAreTakenInBatches() async {
        let tokens = tokens(RetryBudget(burstCount: 100, share: 0, countPerSecond: 1), instanceCount: 4)
        #expect(await takes(tokens) == 100)
        // The batches have 1, 2, 4, 8, 16, 25 and 25 tokens, then the rest, and then none.
        #expect(state.count(of: .take) <= 10, "\(state.count(of: .take))")
    }

    @Test func callsOfAnInstanceEarnItsOwnRetries() async {
        let budget = RetryBudget(burstCount: 10, share: 0.25, countPerSecond: 0)
        let one = tokens(budget)
        let other = tokens(budget)
        #expect(await takes(one) == 10)
        #expect(await takes(other) == 0)
        for _ in 0..<12 { one.earn(by: .made(on: timers)) }
        #expect(await takes(one) == 3)
        #expect(await takes(other) == 0)
        // An instance earns no more than its share of the burst.
        for _ in 0..<1000 { other.earn(by: .made(on: timers)) }
        #expect(await takes(other) == 5)
    }

    @Test func eachHostHasItsOwnBudget() async {
        let tokens = tokens(RetryBudget(burstCount: 4, countPerSecond: 0))
        #expect(await takes(tokens, "one.example.com") == 4)
        #expect(await takes(tokens, "two.example.com") == 4)
        #expect(await takes(tokens, "ONE.example.com") == 0)
    }

    @Test func withoutTheStateAnInstanceUsesItsShareOfTheBudget() async {
        state.fail()
        let tokens = tokens(RetryBudget(burstCount: 20, share: 0, countPerSecond: 1), instanceCount: 4)
        // The first request for tokens fails, so the instance uses its share.
        #expect(await takes(tokens) == 5)
        #expect(state.count(of: .take) == 1)
        clock.advance(by: .seconds(8))
        #expect(await takes(tokens) == 2)
        state.fail { _ in false }
        clock.advance(by: .seconds(60))
        #expect(await takes(tokens) > 10)
    }

    @Test(arguments: [
        RetryBudget(burstCount: 0), RetryBudget(burstCount: -1), RetryBudget(countPerSecond: .nan),
        RetryBudget(countPerSecond: .infinity), RetryBudget(countPerSecond: -1), RetryBudget(share: .nan),
        RetryBudget(burstCount: .max, countPerSecond: 0),
    ]) func impossibleNumbersDoNotTrap(_ budget: RetryBudget) async {
        let tokens = tokens(budget)
        tokens.earn(by: .made(on: timers))
        let isTaken = await tokens.take(for: .made(on: timers))
        #expect(isTaken == (budget.burstCount > 0))
    }

    @Test func anUnlimitedBudgetNeedsNoState() async {
        #expect(await takes(tokens(.unlimited)) == 1000)
        #expect(state.count(of: .take) == 0)
    }

    @Test func manyHostsDoNotFillTheMemory() async {
        let tokens = tokens(RetryBudget(burstCount: 4))
        for number in 0..<300 { _ = await tokens.take(for: .made("h\(number).example.com", on: timers)) }
        #expect(tokens.count <= SharedRetryTokens.maximumCount)
    }

    /// A provider whose calls fail and are retried without a wait.
    private func provider(_ budget: RetryBudget) -> some DataRequestType {
        let policy = RetryPolicy(maximumAttemptCount: 100, budget: budget, random: { 0 })
        let shared = SharedLimit(named: "a", in: state, policy: SharedLimitPolicy(instanceCount: 2))
        return TestConnector { _ in .status(503) }.retrying(policy, sharedAs: shared).observing(by: recorder)
    }

    @Test func retriesOfTwoInstancesUseOneBudget() async throws {
        let budget = RetryBudget(burstCount: 10, share: 0, countPerSecond: 0)
        let first = try await provider(budget).response(for: .made(on: timers))
        #expect(first.request.earlierAttempts.count == 10)
        #expect(first.request.history?.stop == .budget)
        let second = try await provider(budget).response(for: .made(on: timers))
        #expect(second.request.earlierAttempts.isEmpty)
    }

    @Test func withoutTheStateARetryReportsAnEvent() async throws {
        state.fail()
        let response = try await provider(RetryBudget(burstCount: 10)).response(for: .made(on: timers))
        #expect(response.request.earlierAttempts.count == 5)
        #expect(recorder.texts.contains { $0.contains("sharedStateUnavailable") }, "\(recorder.texts)")
    }

    @Test func aRetryDoesNotWaitForTheStateBeyondItsDeadline() async throws {
        let gate = Gate("the store")
        state.hang(at: gate)
        let provider = provider(RetryBudget(burstCount: 10))
        let task = Task { [timers] in await provider.result(for: .made(deadline: .seconds(3), on: timers)) }
        await eventually { state.count(of: .take) == 1 }
        clock.advance(by: .seconds(3))
        #expect(try await task.value.get().status == 503)
        gate.open()
    }

    @Test func aCanceledCallDoesNotWaitForTheState() async throws {
        let gate = Gate("the store")
        state.hang(at: gate)
        let provider = provider(RetryBudget(burstCount: 10))
        let task = Task { [timers] in await provider.result(for: .made(on: timers)) }
        await eventually { state.count(of: .take) == 1 }
        task.cancel()
        #expect(await task.value.failure?.kind == .cancelled)
        gate.open()
    }
}
