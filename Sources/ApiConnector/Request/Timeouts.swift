// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The time limits of a call.
///
/// A limit that is `nil` is not set here. The next place in this order then decides:
///
/// 1. the call's ``CallOptions/timeouts``,
/// 2. the connection's ``ConnectionConfiguration/timeouts``,
/// 3. the defaults: a ``stall`` limit of 60 seconds, and no other limit.
///
/// ``noLimit`` removes a limit that a later place sets.
///
/// ```swift
/// // The connection's limits on attempts and silence stay.
/// let options = CallOptions(timeouts: Timeouts(overall: .seconds(5)))
/// ```
public struct Timeouts: Sendable, Hashable {
    /// The maximum time of an attempt, from its request to the end of its body.
    ///
    /// Each redirect and each retry is a separate attempt. When the limit is reached, the call fails with kind
    /// `.timedOut`. The limit also ends a streamed body, even while no code reads it. Do not set it for a stream that
    /// is meant to last.
    public var attempt: Duration?

    /// The maximum time in which no byte of a body is sent or received.
    ///
    /// When the limit is reached, the call fails with kind `.stalled`. It also limits the wait for the complete head of
    /// a response: a part of a head does not count as progress. In a streamed body, it applies from chunk to chunk, and
    /// only while the reader waits for a chunk. A slow reader does not reach the limit.
    public var stall: Duration?

    /// The maximum time of the whole call: redirects, retries, waits and the body.
    ///
    /// When the limit is reached, the call fails with kind `.deadlineExceeded`. It also ends a streamed body, like
    /// ``attempt``.
    public var overall: Duration?

    /// Makes limits; those that are left out are not set.
    public init(attempt: Duration? = nil, stall: Duration? = nil, overall: Duration? = nil) {
        self.attempt = attempt
        self.stall = stall
        self.overall = overall
    }

    /// No limit, instead of a limit that a later place sets.
    public static let noLimit = Duration.seconds(Int64.max)

    /// No limits: a call can wait forever.
    public static let unlimited = Timeouts(attempt: noLimit, stall: noLimit, overall: noLimit)

    /// The limits that apply if neither the call nor the connection sets them.
    static let standard = Timeouts(stall: .seconds(60))

    /// These limits, completed with others.
    func over(_ others: Timeouts) -> Timeouts {
        Timeouts(
            attempt: attempt ?? others.attempt,
            stall: stall ?? others.stall,
            overall: overall ?? others.overall
        )
    }

    /// The effective limits: ``noLimit`` becomes `nil`.
    var applied: Timeouts {
        func limit(_ duration: Duration?) -> Duration? { duration.flatMap { $0 < Self.noLimit ? $0 : nil } }
        return Timeouts(attempt: limit(attempt), stall: limit(stall), overall: limit(overall))
    }
}
