// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser
import Backends
import Walkthrough

/// `demo tour`: every backend in turn.
struct TourCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tour",
        abstract: "Walk through all backends in turn."
    )

    @OptionGroup var server: ServerOptions

    func run() async throws {
        try await server.walk { walk, location in
            let provider = SystemProvider()
            await walk.blog(.server(location), over: provider)
            await walk.users(.users(on: location), over: provider)
            await walk.pugs(.pugs(on: location), over: provider)
            await walk.orders(.orders(on: location), over: provider)
        }
    }
}
