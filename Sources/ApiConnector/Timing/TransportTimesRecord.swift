// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The times of one exchange, which grow while its body is read.
///
/// Your own transport makes one for each request, writes what it measures, and sets it as
/// ``ApiResponse/timesRecord`` of the response and ``ApiConnectorError/timesRecord`` of an error.
public final class TransportTimesRecord: Sendable {
    private struct State {
        var times = TransportTimes()
        var isWritten = false
    }

    private let state = Locked(State())

    /// Makes a record in which nothing was measured.
    public init() {}

    /// What was measured until now; nil before the first ``update(_:)``.
    public var times: TransportTimes? { state.withLock { $0.isWritten ? $0.times : nil } }

    /// Writes what was measured.
    ///
    /// - Parameter change: Changes the times. It runs under a lock.
    public func update(_ change: (inout TransportTimes) -> Void) {
        state.withLock { state in
            state.isWritten = true
            // In place: a copy would cost more than the change.
            change(&state.times)
        }
    }
}
