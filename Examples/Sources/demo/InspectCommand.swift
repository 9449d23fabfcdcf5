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
        discussion: """
            The slow name lookup and the slow TLS handshake are simulated; their paths begin with /simulated/. All \
            other exchanges take place between this program and the server: a slow response, retries after a 503, a \
            redirect, a connection that is lost, and a stream that resumes.
            """
    )

    @Option(help: "The port of the page on 127.0.0.1; 0 chooses a free port.")
    var port: UInt16 = 0

    @Flag(help: "Send the requests once, fetch the page's list, print its summary, and exit.")
    var once = false

    @OptionGroup var server: ServerOptions

    func run() async throws {
        let inspector = Inspector(port: port)
        let page = Task { try await inspector.run() }
        defer { page.cancel() }
        let address = try await inspector.address()
        print("The page is at \(address.absoluteString)")
        print(once ? "Sending requests." : "Sending requests; stop with Ctrl-C.")
        fflush(nil)
        let provider = SystemProvider().simulatingSlowPhases().inspected(by: inspector)
        try await server.use { location in
            repeat {
                await InspectedTraffic(provider: provider).run(on: location)
                if !once { try await Task.sleep(for: .seconds(5)) }
            } while !once
        }
        let list = try await InspectedList(at: address, over: SystemProvider())
        print("The page lists \(list.summary).")
        if list.count == 0 || list.count != inspector.archive.exchanges.count { throw ExitCode.failure }
    }
}
