// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser
import Backends
import Foundation
import Walkthrough

/// `demo openapi`.
struct DocumentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "openapi",
        abstract:
            "Call the blog with a client generated from its OpenAPI document, and refuse a canned response.",
        discussion: """
            The document is Sources/BlogClient/blog.json. If apiconnector-openapi is next to this program, it generates \
            the client again, and the walk compares the result with this program's client.
            """
    )

    @OptionGroup var server: ServerOptions

    func run() async throws {
        let generator = Bundle.main.executableURL.flatMap { BlogGenerator.url(nextTo: $0) }
        if generator == nil {
            print(
                """
                The client was generated earlier. To generate it, run: swift run --package-path OpenAPI \
                apiconnector-openapi generate Examples/Sources/BlogClient/blog.json \
                --config Examples/Sources/BlogClient/openapi.json --output Examples/Sources/BlogClient/Generated

                """
            )
        }
        try await server.walk { walk, location in
            await walk.document(
                of: (location.host, location.port),
                over: SystemProvider(),
                generator: generator
            )
        }
    }
}
