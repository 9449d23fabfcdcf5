// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Time limits behind a reference: all requests of a connection share them.
final class AttemptLimits: Sendable {
    let timeouts: Timeouts

    init(_ timeouts: Timeouts) {
        self.timeouts = timeouts
    }
}
