// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser
import Backends
import Walkthrough

/// `demo orders`.
struct OrdersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "orders",
        abstract: "Walk through orders with JSON:API errors: one outcome for each of the three states."
    )

    @OptionGroup var server: ServerOptions

    func run() async throws {
        try await server.walk { walk, location in
            await walk.orders(.orders(on: location), over: SystemProvider())
        }
    }
}
