// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Time limits in a class, so that all requests of a connection share them.
final class AttemptLimits: Sendable {
    let timeouts: Timeouts

    init(_ timeouts: Timeouts) {
        self.timeouts = timeouts
    }
}
