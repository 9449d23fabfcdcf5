// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Backends
import DemoServer
import Foundation
import Testing
import Walkthrough

/// The same calls to a server that fails, with and without the standard composition.
@Suite(.timeLimit(.minutes(2))) struct Resilience {
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
        // What the token was good for.
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
}
