// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import ArgumentParser

/// `demo conformance`.
struct ConformanceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conformance",
        abstract: "Hold the transports, the test double and the standard composition to what a transport promises.",
        discussion: "Prints a report on each: what passed, and what was excluded for which reason."
    )

    private static let waits =
        "retrying waits for a stream's first chunk, up to which the request may be sent again"

    func run() async throws {
        let policy = RetryPolicy(maximumAttemptCount: 3, budget: .unlimited, random: { 0 })
        let reports = [
            await ConformanceTarget.transport(named: "SystemProvider") { SystemProvider() }.check(
                excluding: SystemProvider.conformanceExclusions
            ),
            await ConformanceTarget.transport { URLSessionProvider() }.check(
                excluding: URLSessionProvider.conformanceExclusions
            ),
            await ConformanceTarget.testDouble(named: "TestConnector") { TestConnector($0) }.check(),
            await ConformanceTarget.transport(named: "SystemProvider, standard composition") {
                SystemProvider().standard(policy, observedBy: CallMetrics())
            }
            .check(
                excluding: SystemProvider.conformanceExclusions.merging(
                    [
                        "sends a request once, whatever the status": "to send it again is what retrying is for",
                        "returns the head before the body": Self.waits,
                    ],
                    uniquingKeysWith: { $1 }
                )
            ),
        ]
        for report in reports { print("\(report)\n") }
        if !reports.allSatisfy(\.isPassed) { throw ExitCode.failure }
    }
}
