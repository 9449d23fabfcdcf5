// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser
import MicroCases

/// `goals child requests`: makes only requests, for a profiler, as in `perf record -g goals child requests`.
struct RequestsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "requests", shouldDisplay: false)

    @Option var inFlight = 16
    @Option var seconds = 3.0

    func run() async throws {
        let nginx = try NginxServer()
        defer { nginx.stop() }
        let ours = ConnectorGet(SystemProvider(), port: nginx.port)
        let rate = try await Rate.perSecond(inFlight: inFlight, for: .seconds(seconds)) { keep(try await ours.value()) }
        try ChildCommand.report(["perSecond": rate])
    }
}
