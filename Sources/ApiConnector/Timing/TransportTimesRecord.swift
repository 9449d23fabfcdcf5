// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The times of one exchange, which are updated while its body is read.
///
/// Your own transport creates a record for each request and updates it with its measurements. The transport sets the
/// record as the response's ``ApiResponse/timesRecord`` or the error's ``ApiConnectorError/timesRecord``.
public final class TransportTimesRecord: Sendable {
    private struct State {
        var times = TransportTimes()
        var isWritten = false
    }

    private let state = Locked(State())

    /// Makes a record without measurements.
    public init() {}

    /// The times measured so far; nil before the first ``update(_:)``.
    public var times: TransportTimes? { state.withLock { $0.isWritten ? $0.times : nil } }

    /// Updates the times.
    ///
    /// - Parameter change: Changes the times; runs under a lock.
    public func update(_ change: (inout TransportTimes) -> Void) {
        state.withLock { state in
            state.isWritten = true
            // In place, because a copy would cost more than the change.
            change(&state.times)
        }
    }
}
