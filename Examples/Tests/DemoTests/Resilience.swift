// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTraffic
import Backends
import DemoServer
import Foundation
import Testing
import Walkthrough

/// The same calls to a failing server, with and without the standard composition.
@Suite(.timeLimit(.minutes(10))) struct Resilience {
    private func tally(isStandard: Bool, faults: FaultPlan) async throws -> Tally {
        try await DemoServer.run(faults: faults) { url in
            let location = try #require(ServerLocation(url))
            let walk = Walk(write: { _ in })
            let tally = await walk.resilience(
                over: SystemProvider(),
                isStandard: isStandard,
                at: .stock(on: location)
            )
            #expect(walk.isAsExpected)
            return try #require(tally)
        }
    }

    @Test func theStandardCompositionBringsEveryCallThrough() async throws {
        let tally = try await tally(isStandard: true, faults: .seeded(42))
        #expect(tally.succeededCount == 200)
        #expect(tally.refreshedCount == 3)
        #expect(tally.retriedCount >= 30)
    }

    @Test func aBareProviderFailsWithTheServer() async throws {
        let tally = try await tally(isStandard: false, faults: .seeded(42))
        // The number of good responses per token.
        #expect(tally.succeededCount == 60)
        #expect(tally.failures["401"] ?? 0 > 100)
        #expect(tally.failures["503"] ?? 0 > 0)
        #expect(tally.failures["connectionLost"] ?? 0 > 0)
        #expect(tally.retriedCount == 0)
    }

    @Test(arguments: [false, true])
    func withoutFaultsNothingIsRetriedOrRefreshed(isStandard: Bool) async throws {
        let tally = try await tally(isStandard: isStandard, faults: .none)
        #expect(tally.summary == "200 succeeded, 0 failed, 0 retried, 0 refreshed")
    }

    @Test func aLimitHoldsBackACacheAnswersAndAnOpenCircuitRefuses() async throws {
        try await DemoServer.run { url in
            let location = try #require(ServerLocation(url))
            let gone = try await DemoServer.run { try #require(ServerLocation($0)) }
            var lines: [String] = []
            let walk = Walk(write: { lines.append($0) })
            await walk.traffic(over: SystemProvider(), at: .stock(on: location), down: .stock(on: gone))
            #expect(walk.isAsExpected)
            #expect(walk.stepCount == 3)
            #expect(lines.contains { $0.contains("at most 4 in flight") })
            #expect(lines.contains { $0.contains("40 calls, 20 at once: 1 sent, ") })
            #expect(
                lines.contains {
                    $0.contains("30 calls to a host that is down: 10 failed, then 20 refused by the open circuit")
                }
            )
        }
    }
}
