// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import ArgumentParser
import MicroCases

/// `goals child canned`: runs only G3's calls, for a profiler.
struct CannedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "canned", shouldDisplay: false)

    @Option var count = 10_000
    @Flag var decodingOnly = false

    func run() async throws {
        let data = Data(NginxServer.smallBody.utf8)
        let provider = TestConnector { _ in .data(data, headers: ["Content-Type": "application/json"]) }
        let ours = ConnectorGet(provider, port: 80)
        let decoder = JSONDecoder()
        guard decodingOnly else {
            for _ in 0..<count { keep(try await ours.value()) }
            return
        }
        for _ in 0..<count { keep(try decoder.decode(SmallValue.self, from: data)) }
    }
}
