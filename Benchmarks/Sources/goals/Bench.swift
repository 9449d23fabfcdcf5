// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// What the goals measure with: how long, and the servers, started when the first asks for them.
final class Bench: Sendable {
    let isQuick: Bool
    private let servers = Lazy<NginxServer>()
    private let holding = Lazy<HoldingServer>()

    init(isQuick: Bool) {
        self.isQuick = isQuick
    }

    /// How many times each contender has its turn, after one that is not counted.
    var rounds: Int { isQuick ? 5 : 15 }

    /// How long a turn is.
    var turn: Duration { .milliseconds(isQuick ? 200 : 350) }

    /// The server that requests go to.
    func nginx() throws -> NginxServer {
        try servers.value { try NginxServer() }
    }

    /// The server that begins every answer and ends none.
    func holdingServer() throws -> HoldingServer {
        try holding.value { try HoldingServer() }
    }

    /// Stops the servers.
    func end() {
        servers.take()?.stop()
        holding.take()?.stop()
    }
}
