// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser
import Backends
import Walkthrough

/// `demo feed`: server-sent events whose server hangs up after every third, read as one stream.
struct FeedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feed",
        abstract: "Read server-sent events from a server that hangs up, and see how the stream goes on."
    )

    @Option(help: ArgumentHelp("The time between two events.", valueName: "milliseconds"))
    var gap = 300

    @OptionGroup var server: ServerOptions

    func run() async throws {
        try await server.use { location in
            let show = FeedShow(style: .standardOutput)
            let isWhole = try await show.run(.feed(on: location), over: SystemProvider(), millisecondsApart: gap)
            if !isWhole { throw ExitCode.failure }
        }
    }
}
