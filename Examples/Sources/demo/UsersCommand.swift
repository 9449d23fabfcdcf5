// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser
import Backends
import Walkthrough

/// `demo users`.
struct UsersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users",
        abstract: "Walk through users in an envelope: read, change, and handle an error with status 200."
    )

    @OptionGroup var server: ServerOptions

    func run() async throws {
        try await server.walk { walk, location in
            await walk.users(.users(on: location), over: SystemProvider())
        }
    }
}
