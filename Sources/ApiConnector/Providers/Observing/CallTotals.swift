// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What a call came to, told with its last event.
public struct CallTotals: Sendable, CustomStringConvertible {
    /// How it ended.
    public let outcome: CallOutcome

    /// How long it took, the body included.
    public let elapsed: Duration

    /// How many bytes of the body came.
    public let byteCount: Int

    /// How often a retrying provider further in sent the request; 1 where there is none.
    public let attemptCount: Int

    /// Where the time of the last attempt went; nil where the transport does not measure it, or was not reached.
    ///
    /// ``CallEvent/Kind/attemptTimed(_:)`` has the times of the attempts before. Each hop of a redirect has totals of its
    /// own.
    public var times: TransportTimes? { timesRecord?.times }

    let timesRecord: TransportTimesRecord?

    /// Outcome, time, bytes and attempts.
    public var description: String {
        let attempts = attemptCount == 1 ? "" : " in \(attemptCount) attempts"
        return "\(outcome) after \(elapsed), \(byteCount) bytes\(attempts)"
    }
}
