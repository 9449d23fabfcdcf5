// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser
import Foundation
import Inspector
import Walkthrough

/// `demo inspect`: the inspector's page with live traffic.
struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Serve the inspector's page, and send requests to inspect.",
        discussion: "The slow DNS lookup, the slow TLS handshake and the busy server are simulated."
    )

    @Option(help: "The port of the page on 127.0.0.1; 0 chooses a free port.")
    var port: UInt16 = 0

    @Flag(help: "Send the requests once, print their number, and exit.")
    var once = false

    @OptionGroup var server: ServerOptions

    func run() async throws {
        let inspector = Inspector(port: port)
        let page = Task { try await inspector.run() }
        defer { page.cancel() }
        print("The page is at \(try await inspector.address().absoluteString)")
        print(once ? "Sending requests." : "Sending requests; stop with Ctrl-C.")
        fflush(nil)
        try await server.use { location in
            repeat {
                await InspectedTraffic(provider: SystemProvider().played().inspected(by: inspector)).run(on: location)
                if !once { try await Task.sleep(for: .seconds(5)) }
            } while !once
        }
        print("\(inspector.archive.exchanges.count) exchanges")
    }
}
