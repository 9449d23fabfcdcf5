// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser
import Backends
import Walkthrough

/// `demo feed`: reads server-sent events as one stream, although the server disconnects after every third event.
struct FeedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feed",
        abstract: "Read server-sent events from a server that disconnects, and show how the stream resumes."
    )

    @Option(help: ArgumentHelp("The time between two events, in milliseconds.", valueName: "milliseconds"))
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
