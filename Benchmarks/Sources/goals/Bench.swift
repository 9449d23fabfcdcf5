// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The measuring times of a run, and its servers, which start on first use.
final class Bench: Sendable {
    let isQuick: Bool
    private let servers = Lazy<NginxServer>()
    private let holding = Lazy<HoldingServer>()

    init(isQuick: Bool) {
        self.isQuick = isQuick
    }

    /// The number of turns per contender, after one that does not count.
    var rounds: Int { isQuick ? 5 : 15 }

    /// The length of a turn.
    var turn: Duration { .milliseconds(isQuick ? 200 : 350) }

    /// The server for requests.
    func nginx() throws -> NginxServer {
        try servers.value { try NginxServer() }
    }

    /// The server that starts every response and never ends it.
    func holdingServer() throws -> HoldingServer {
        try holding.value { try HoldingServer() }
    }

    /// Stops the servers.
    func end() {
        servers.take()?.stop()
        holding.take()?.stop()
    }
}
