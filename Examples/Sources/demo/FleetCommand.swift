// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTraffic
import ArgumentParser
import Backends
import DemoServer
import Foundation
import Walkthrough

/// `demo fleet`.
struct FleetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Run four instances with one rate limit, retry budget and session, without and with shared state.",
        discussion: """
            The instances share nothing but a folder. For Redis and several processes, run Scripts/fleet: the demo does not \
            depend on the package Fleet, which needs hiredis and a library for TLS.
            """
    )

    func run() async throws {
        let walk = Walk(style: .standardOutput)
        let start = ContinuousClock.now
        let folder = FileManager.default.temporaryDirectory.appending(path: "ApiConnector-demo-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await DemoServer.run { url in
            guard let location = ServerLocation(url) else { throw ExitCode.failure }
            await walk.fleet(over: SystemProvider(), at: .stock(on: location)) { try FolderSharedState(folder: folder) }
        }
        walk.end(after: ContinuousClock.now - start)
        if !walk.isAsExpected { throw ExitCode.failure }
    }
}
