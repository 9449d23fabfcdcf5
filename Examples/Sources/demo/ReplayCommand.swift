// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser
import Walkthrough

/// `demo replay`.
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Repeat the walk that 'demo record' recorded, without a server."
    )

    @Option(help: "The file to read.")
    var file = "blog.har"

    func run() async throws {
        let walk = Walk(style: .standardOutput)
        let start = ContinuousClock.now
        try await walk.replayBlog(from: URL(filePath: file))
        walk.end(after: ContinuousClock.now - start)
        if !walk.isAsExpected { throw ExitCode.failure }
    }
}
