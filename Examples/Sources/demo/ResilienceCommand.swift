// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser
import Backends
import DemoServer
import Walkthrough

/// `demo resilience`.
struct ResilienceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resilience",
        abstract: "Send 200 calls to a server that fails, with a bare provider and with the standard composition.",
        discussion: """
            The embedded server answers 503 with Retry-After, drops connections and lets tokens expire, the same way each \
            time for the same seed.
            """
    )

    @Option(help: "What the server's faults are drawn from.")
    var seed: UInt64 = 42

    func run() async throws {
        let walk = Walk(style: .standardOutput)
        let start = ContinuousClock.now
        for isStandard in [false, true] {
            try await DemoServer.run(faults: .seeded(seed)) { url in
                guard let location = ServerLocation(url) else { throw ExitCode.failure }
                await walk.resilience(over: SystemProvider(), isStandard: isStandard, at: .stock(on: location))
            }
        }
        walk.end(after: ContinuousClock.now - start)
        if !walk.isAsExpected { throw ExitCode.failure }
    }
}
