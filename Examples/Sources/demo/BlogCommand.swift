// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser
import Backends
import Walkthrough

/// `demo` and `demo blog`.
struct BlogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "blog",
        abstract: "Walk through a blog: sign in, read, publish, and request a post that does not exist."
    )

    @Flag(help: "Show an app that a UI test launches with a seed, instead of the blog.")
    var seeded = false

    @OptionGroup var server: ServerOptions

    func run() async throws {
        if seeded { return try await SeededShow().run() }
        try await server.walk { walk, location in
            await walk.blog(.server(location), over: SystemProvider())
        }
    }
}
