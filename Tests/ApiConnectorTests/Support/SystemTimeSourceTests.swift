// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// The machine's own clocks, where a test need not wait for them.
@Suite(.timeLimit(.minutes(10))) struct SystemTimeSourceTests {}

extension SystemTimeSourceTests {
    @Test(arguments: [.seconds(Int64.max), .seconds(Int64.max - 1)] as [Duration])
    func aSleepForEverDoesNotTrap(_ end: Duration) async throws {
        let begins = Gate("the sleeper")
        let sleeper = Task {
            begins.open()
            try await SystemTimeSource().sleep(until: end)
        }
        try await begins.opened()
        // A sleep that is canceled before it begins ends at once.
        for _ in 0..<100 { await Task.yield() }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }

    @Test(arguments: [.seconds(Int64.min), .seconds(-1), .zero] as [Duration])
    func aSleepThatIsOverReturnsAtOnce(_ end: Duration) async throws {
        try await SystemTimeSource().sleep(until: end)
    }
}
