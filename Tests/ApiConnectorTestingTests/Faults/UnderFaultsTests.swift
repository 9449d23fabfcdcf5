// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

@testable import ApiConnectorTesting

@Suite(.timeLimit(.minutes(10))) struct UnderFaultsTests {}

extension UnderFaultsTests {
    /// Without a limit of time over all attempts: it runs on while the servers of other calls are silent.
    private static let policy = RetryPolicy(maximumDuration: nil)

    private static func shop(_ run: FaultRun, retries: Bool) -> NetworkConnector<AnyProvider, Shop> {
        let provider = TestConnector { _ in .json(Tea.green) }.injecting(run)
        return run.shop(over: retries ? AnyProvider(provider.retrying(policy)) : AnyProvider(provider))
    }

    @Test func retriesSurviveFaultsInTenPercentOfConcurrentCalls() async throws {
        let counts = Locked<[Int]>([])
        try await FaultTest.randomFaults { run in
            let shop = Self.shop(run, retries: true)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for id in (1...40).shuffled() {
                    group.addTask {
                        let tea = try await shop.value(Tea.self, at: .tea(id: id))
                        #expect(tea == .green, "\(run)")
                    }
                }
                try await group.waitForAll()
            }
            counts.withLock { $0.append(run.injected.count) }
        }
        #expect(counts.withLock { $0 } == [0] + Array(repeating: 4, count: 20))
    }

    /// Ten percent of four calls is less than one call.
    @Test func reportsAPercentageThatSelectsNoCall() async throws {
        let failure = await #expect(throws: FaultFailure.self) {
            try await FaultTest.randomFaults { run in
                let shop = Self.shop(run, retries: true)
                for id in 1...4 { _ = try await shop.data(at: .tea(id: id)) }
            }
        }
        #expect(
            failure?.description
                == "10 % of 4 calls is less than one call, so no fault would be injected; give a "
                + "higher percentage, or send more calls"
        )
    }

    @Test func reportsTheSeedAndTheSmallestPlanThatStillFails() async throws {
        // Fails only where both of two calls go wrong, among the many that do.
        let body: @Sendable (FaultRun) async throws -> Void = { run in
            let shop = Self.shop(run, retries: false)
            var failed: Set<Int> = []
            for id in 1...20 where (try? await shop.data(at: .tea(id: id))) == nil { failed.insert(id) }
            if failed.isSuperset(of: [3, 11]) { throw CancellationError() }
        }
        let failure = try await #require(throws: FaultFailure.self) {
            try await FaultTest.randomFaults(50, of: .only([Fault(.reset, at: .head)]), seeds: 0..<100, body)
        }
        let plan = try #require(failure.plans.first)
        #expect(Set(plan.faults.map(\.request)) == ["GET /teas/3", "GET /teas/11"])
        #expect(
            failure.description.wholeMatch(
                of:
                    #/With seed \d+ and 10 faults it fails: CancellationError\(\)\nThe smallest plan that still fails: FaultPlan\("[^"]+"\)/#
            ) != nil
        )
        // It can be pasted, and fails again.
        let pasted = try #require(FaultPlan(plan.description))
        #expect(await FaultTest.smallestFailingPlan(of: pasted, body) == pasted)
        let half = FaultPlan(Array(pasted.faults.prefix(1)))
        #expect(await FaultTest.smallestFailingPlan(of: half, body) == nil)
    }

    @Test func aFailingPercentageIsReportedAsAList() async throws {
        let plan = FaultPlan.percent(50, seed: 1, of: [Fault(.reset, at: .head)])
        let smallest = await FaultTest.smallestFailingPlan(of: plan) { run in
            let shop = Self.shop(run, retries: false)
            for _ in 1...20 where (try? await shop.data(at: .tea(id: 1))) == nil { throw CancellationError() }
        }
        #expect(smallest?.faults.count == 1)
        #expect(smallest?.faults.first?.request == "GET /teas/1")
    }

    /// Against the definition, over every set of up to six items that has to stay together.
    @Test func everyFaultOfASmallestPlanIsNeeded() async {
        for size in 1...12 {
            for wanted in 1..<min(1 << size, 64) {
                let needed = Set((0..<size).filter { wanted >> $0 & 1 == 1 })
                let found = await smallestFailing(Array(0..<size)) { needed.isSubset(of: $0) }
                #expect(Set(found) == needed && found.count == needed.count)
            }
        }
    }
}
