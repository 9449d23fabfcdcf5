// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser
import Backends
import Walkthrough

/// `demo openapi`.
struct DocumentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "openapi",
        abstract:
            "Call the blog with a client generated from its OpenAPI document, and refuse a canned response.",
        discussion: "The document is Sources/BlogClient/blog.json. apiconnector-openapi generated the client."
    )

    @OptionGroup var server: ServerOptions

    func run() async throws {
        try await server.walk { walk, location in
            await walk.document(of: (location.host, location.port), over: SystemProvider())
        }
    }
}
