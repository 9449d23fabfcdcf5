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
        abstract: "Run four instances with one rate limit and session, without and with shared state.",
        discussion: """
            If the program of the package Fleet is next to this one and redis-server is installed, the instances are \
            processes that share Redis. Otherwise they are in one process, and share a folder.
            """
    )

    @Flag(help: "Share a folder even if Redis can be used. This also shows a shared retry budget.")
    var folder = false

    func run() async throws {
        if !folder, let program = Bundle.main.executableURL.flatMap({ FleetProgram.url(nextTo: $0) }) {
            try replaceThisProgram(by: [program.path, "demo"])
        }
        let walk = Walk(style: .standardOutput)
        let start = ContinuousClock.now
        let store = FileManager.default.temporaryDirectory.appending(path: "ApiConnector-demo-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: store) }
        try await DemoServer.run { url in
            guard let location = ServerLocation(url) else { throw ExitCode.failure }
            await walk.fleet(over: SystemProvider(), at: .stock(on: location)) { try FolderSharedState(folder: store) }
        }
        walk.end(after: ContinuousClock.now - start)
        print("To see four processes with Redis, run: swift run --package-path Fleet fleet demo")
        if !walk.isAsExpected { throw ExitCode.failure }
    }

    /// Runs another program in this process; returns only if that fails.
    private func replaceThisProgram(by arguments: [String]) throws {
        let texts = arguments.map { strdup($0) }
        defer { for text in texts { free(text) } }
        execv(arguments[0], texts + [nil])
        throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
}
