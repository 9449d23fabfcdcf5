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

    /// How often an inner retrying provider sent the request; without such a provider, 1, or 0 for a cache hit that the
    /// server has not validated.
    public let attemptCount: Int

    /// Whether and how an inner cache supplied the response; nil if the response came from the server.
    public let cacheHit: CacheHit?

    /// The times of the last attempt's phases; nil if the transport does not measure them, or was not reached.
    ///
    /// ``CallEvent/Kind/attemptTimed(_:)`` has the times of the earlier attempts. Each hop of a redirect has its own
    /// totals.
    public var times: TransportTimes? { timesRecord?.times }

    let timesRecord: TransportTimesRecord?

    /// The outcome, the duration, the number of bytes, the kind of cache hit and the number of attempts.
    public var description: String {
        let attempts = attemptCount > 1 ? " in \(attemptCount) attempts" : ""
        return "\(outcome) after \(elapsed), \(byteCount) bytes\(source)\(attempts)"
    }

    /// The words for a cache hit in a line about the call; empty for other calls.
    var source: String { cacheHit.map { " from the cache (\($0))" } ?? "" }
}
