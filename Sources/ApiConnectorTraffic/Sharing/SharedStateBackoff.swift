// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The circuit breaker around a store of shared state: after a failure it is not asked for 1 second, then for twice that
/// time, up to 30 seconds.
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
    /// Reports that this call goes on without the shared state.
    ///
    /// - Parameters:
    ///   - use: The use of the state, such as "limit".
    ///   - name: The name of the limit, the circuits or the cache.
    func reportUnavailableState(of use: String, _ name: String) {
        report(.custom("sharedStateUnavailable", details: [use: name]))
    }
}
