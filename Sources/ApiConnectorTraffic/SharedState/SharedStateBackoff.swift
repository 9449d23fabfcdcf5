// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The circuit breaker around a store of shared state.
///
/// After a failure, the store is not asked for 1 second, then for twice that time, up to 30 seconds.
struct SharedStateBackoff {
    private var failureCount = 0
    /// The store is not asked before this time.
    private(set) var end: Duration = .zero

    /// Whether the last operation failed.
    var isAway: Bool { failureCount > 0 }

    /// Whether the store can be asked.
    func isOver(now: Duration) -> Bool { end <= now }

    mutating func fail(now: Duration) {
        end = now + min(.seconds(1 << min(failureCount, 5)), .seconds(30))
        failureCount += 1
    }

    mutating func succeed() {
        failureCount = 0
        end = .zero
    }
}

extension ApiRequest {
    /// Reports that this call continues without the shared state.
    ///
    /// - Parameters:
    ///   - use: The use of the state: "limit", "circuits" or "retries".
    ///   - name: The name of the limit or the circuits.
    func reportUnavailableState(of use: String, _ name: String) {
        report(.custom("sharedStateUnavailable", details: [use: name]))
    }
}
