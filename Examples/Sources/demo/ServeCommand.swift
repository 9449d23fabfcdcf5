// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ArgumentParser
import DemoServer
import Foundation

/// `demo serve`: the embedded server alone, for `demo --server` or a browser.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the embedded server until Ctrl-C."
    )

    @Option(help: "The port on 127.0.0.1; 0 chooses a free port.")
    var port: UInt16 = 8080

    func run() async throws {
        try await DemoServer.run(port: port) { url in
            print("Serving at \(url.absoluteString); stop with Ctrl-C.")
            fflush(nil)
            let forever = AsyncStream<Never> { _ in }
            for await _ in forever {}
        }
    }
}
