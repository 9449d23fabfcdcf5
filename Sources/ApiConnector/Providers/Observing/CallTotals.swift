// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The result of a call, in its last event.
public struct CallTotals: Sendable, CustomStringConvertible {
    /// How the call ended.
    public let outcome: CallEvent.Outcome

    /// How long the call took, including the body.
    public let elapsed: Duration

    /// The number of body bytes that arrived.
    public let byteCount: Int

    /// How often an inner retrying provider sent the request; 1 without such a provider.
    public let attemptCount: Int

    /// The times of the last attempt's phases; nil if the transport does not measure them, or was not reached.
    ///
    /// ``CallEvent/Kind/attemptTimed(_:)`` has the times of the earlier attempts. Each hop of a redirect has its own
    /// totals.
    public var times: TransportTimes? { timesRecord?.times }

    let timesRecord: TransportTimesRecord?

    /// The outcome, the duration, the number of bytes and the number of attempts.
    public var description: String {
        let attempts = attemptCount == 1 ? "" : " in \(attemptCount) attempts"
        return "\(outcome) after \(elapsed), \(byteCount) bytes\(attempts)"
    }
}
