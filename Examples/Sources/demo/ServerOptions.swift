// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ArgumentParser
import Backends
import DemoServer
import Foundation
import Walkthrough

/// The server of a walk: the embedded server or a server at a given URL.
struct ServerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The server to use instead of the embedded server, for example one started by 'demo serve'.",
            valueName: "url"
        ),
        transform: Self.location
    )
    var server: ServerLocation?

    /// Runs a walk, prints the summary, and exits with failure if a step was not as expected.
    func walk(_ body: (Walk, ServerLocation) async -> Void) async throws {
        let walk = Walk(style: .standardOutput)
        let start = ContinuousClock.now
        try await use { location in await body(walk, location) }
        walk.end(after: ContinuousClock.now - start)
        if !walk.isAsExpected { throw ExitCode.failure }
    }

    /// Passes the given server to the closure, or runs a server while the closure runs.
    ///
    /// By default, the server uses a free port.
    func use(port: UInt16 = 0, _ body: (ServerLocation) async throws -> Void) async throws {
        if let server {
            try await body(server)
        } else {
            try await DemoServer.run(port: port) { url in try await body(try Self.location(url.absoluteString)) }
        }
    }

    private static func location(_ text: String) throws -> ServerLocation {
        guard let location = URL(string: text).flatMap({ ServerLocation($0) }) else {
            throw ValidationError("“\(text)” is not an http or https URL; write it as http://127.0.0.1:8080")
        }
        return location
    }
}

extension TextStyle {
    /// The style for standard output.
    static var standardOutput: TextStyle {
        TextStyle(
            isTerminal: isatty(STDOUT_FILENO) == 1,
            environment: ProcessInfo.processInfo.environment
        )
    }
}
