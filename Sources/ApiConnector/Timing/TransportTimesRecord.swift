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
    /// The record that this one extends, and the wait that it adds.
    private let base: (record: TransportTimesRecord, wait: Duration)?

    /// Makes a record without measurements.
    public init() {
        base = nil
    }

    private init(_ record: TransportTimesRecord, _ wait: Duration) {
        base = (record, wait)
    }

    /// The times measured so far; nil before the first ``update(_:)``.
    public var times: TransportTimes? {
        guard let base else { return state.withLock { $0.isWritten ? $0.times : nil } }
        var times = base.record.times ?? TransportTimes()
        times[.waiting] = (times[.waiting] ?? .zero) + base.wait
        return times
    }

    /// Returns a record of the same times with a longer ``TransportTimes/Phase/waiting``.
    ///
    /// If your own provider makes requests wait, it sets the new record on its response or error. Its inner providers
    /// keep the times without the wait.
    ///
    /// - Parameter wait: How long the provider made the request wait.
    public func adding(wait: Duration) -> TransportTimesRecord {
        TransportTimesRecord(self, wait)
    }

    /// Updates the times.
    ///
    /// - Parameter change: Changes the times; runs under a lock. In a record that ``adding(wait:)`` has made, it
    ///   changes the times without the wait.
    public func update(_ change: (inout TransportTimes) -> Void) {
        if let base { return base.record.update(change) }
        state.withLock { state in
            state.isWritten = true
            // In place, because a copy would cost more than the change.
            change(&state.times)
        }
    }
}
