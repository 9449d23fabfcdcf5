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
        abstract: "Send 200 calls to a failing server, then more calls than limits and circuit breakers allow.",
        discussion: """
            The embedded server answers 503 with Retry-After, drops connections and lets tokens expire, the same way each \
            time for the same seed. The calls go over a bare provider and over the standard composition; then some over a \
            limit, some over a cache, and some to a server that is not there.
            """
    )

    @Option(help: "The seed of the server's random faults.")
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
        try await DemoServer.run { url in
            let gone = try await DemoServer.run { ServerLocation($0) }
            guard let location = ServerLocation(url), let gone else { throw ExitCode.failure }
            await walk.traffic(over: SystemProvider(), at: .stock(on: location), down: .stock(on: gone))
        }
        walk.end(after: ContinuousClock.now - start)
        if !walk.isAsExpected { throw ExitCode.failure }
    }
}
