// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorConformance
import ApiConnector
import ApiConnectorTesting
import ArgumentParser

/// `demo conformance`.
struct ConformanceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conformance",
        abstract: "Check transports, the test double and the standard composition against the rules for a transport.",
        discussion: "Prints a report for each: the checks that passed, and the excluded checks with their reasons."
    )

    private static let waits =
        "retrying waits for a stream's first chunk, so that it can still send the request again"

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
                        "sends a request once, regardless of the status": "retrying sends a request again",
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
