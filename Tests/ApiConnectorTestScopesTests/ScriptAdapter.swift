// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting

/// One of the ways in which a script reaches a program.
enum ScriptAdapter: String, CaseIterable, Sendable {
    case inProcess, session, server, seed

    /// The one that the child process is to use.
    static let current = ProcessInfo.processInfo.environment[variable].flatMap(ScriptAdapter.init) ?? .inProcess

    static let variable = "APICONNECTOR_CARRIER"

    /// A connection that a script answers over it.
    func connection(
        to script: Script<Shop>,
        in environment: ShopServer = .test
    ) throws -> NetworkConnector<AnyProvider, Shop> {
        NetworkConnector(
            environment: environment,
            provider: try provider(for: script),
            configuration: ConnectionConfiguration(timeouts: .unlimited)
        )
    }

    private func provider(for script: Script<Shop>) throws -> AnyProvider {
        switch self {
        case .inProcess:
            return AnyProvider(TestConnector(script))
        case .session:
            let bridge = try SessionBridge(script, delivery: .inChunks)
            return AnyProvider(URLSessionProvider(configuration: bridge.configuration))
        case .server:
            return AnyProvider(Readdressed(to: try ScriptServer(script).url))
        case .seed:
            let seed = try LaunchSeed(script)
            return try LaunchSeed.provider(
                or: TestConnector { _ in .status(500) },
                arguments: seed.arguments,
                environment: seed.environment
            )
        }
    }

    /// An answer that the adapter cannot express; within the process every answer is possible.
    var inexpressible: TestConnectorResponse {
        switch self {
        case .inProcess: .status(200)
        case .session, .server: .failure(ApiConnectorError(.circuitOpen, "it is open"))
        case .seed: .feed(BodyFeed())
        }
    }
}
