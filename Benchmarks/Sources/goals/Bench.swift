// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The durations of a run's measurements, and the run's servers, which start on first use.
final class Bench: Sendable {
    let isQuick: Bool
    private let servers = Lazy<NginxServer>()
    private let holding = Lazy<HoldingServer>()

    init(isQuick: Bool) {
        self.isQuick = isQuick
    }

    /// The number of turns per contender, not including a first turn that does not count.
    var rounds: Int { isQuick ? 5 : 15 }

    /// The length of a turn.
    var turn: Duration { .milliseconds(isQuick ? 200 : 350) }

    /// The server for requests.
    func nginx() throws -> NginxServer {
        try servers.value { try NginxServer() }
    }

    /// The server that starts every response, but never ends it.
    func holdingServer() throws -> HoldingServer {
        try holding.value { try HoldingServer() }
    }

    /// Stops the servers.
    func end() {
        servers.take()?.stop()
        holding.take()?.stop()
    }
}
