// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser

/// The subcommands that `goals` runs in a child process to measure memory.
///
/// Each does one thing, and prints its costs as JSON.
struct ChildCommand: AsyncParsableCommand {
    static let name = "child"
    static let configuration = CommandConfiguration(
        commandName: name,
        shouldDisplay: false,
        subcommands: [
            RequestsCommand.self, CannedCommand.self, ReadBodyCommand.self, HoldStreamsCommand.self,
            SecureGetsCommand.self, SendFileCommand.self, BesideHostileCommand.self, LoopsCommand.self,
            LateLimitsCommand.self, LoopWorkCommand.self, TimingsCommand.self,
        ]
    )

    static func report(_ value: some Encodable) throws {
        Console.line(String(decoding: try JSONEncoder().encode(value), as: UTF8.self))
    }
}
