// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTestScopes
import ApiConnectorTesting
import Testing

@Suite(.scripted, .timeLimit(.minutes(10))) struct FaultIssueTests {
    private func shop(_ run: FaultRun) -> NetworkConnector<AnyProvider, Shop> {
        NetworkConnector(
            environment: .test,
            provider: AnyProvider(TestConnector { _ in .json(Tea.green) }.injecting(run)),
            configuration: ConnectionConfiguration(timeSource: run.timeSource)
        )
    }

    @Test func aFailedExpectationIsReportedWithItsFault() async throws {
        let failure = await #expect(throws: FaultFailure.self) {
            try await FaultTest.everySingleFault(of: .only([Fault(.refused, at: .beforeSending)])) { run in
                let tea = try? await shop(run).value(Tea.self, at: .tea(id: 1))
                #expect(tea?.name == "green")
            }
        }
        let text = failure?.description ?? ""
        #expect(text.hasPrefix("1 of 2 runs failed:\n- FaultPlan(\"GET /teas/1 #1 refused@send\"): "))
        #expect(text.contains("Expectation failed") && text.contains("tea?.name"))
    }

    @Test func anErrorThatIsThrownPassesThrough() async throws {
        let failure = await #expect(throws: FaultFailure.self) {
            try await FaultTest.everySingleFault(of: .only([Fault(.refused, at: .beforeSending)])) { run in
                _ = try await shop(run).data(at: .tea(id: 1))
            }
        }
        #expect(failure?.description.contains("cannotConnect") == true)
    }
}
