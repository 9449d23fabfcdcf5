// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// How long a call may take.
///
/// A limit that is `nil` is not set here. Then the next place decides, in this order:
///
/// 1. the call's ``CallOptions/timeouts``,
/// 2. the connection's ``ConnectionConfiguration/timeouts``,
/// 3. the defaults: a ``stall`` limit of 60 seconds, and no other limit.
///
/// ``noLimit`` takes a limit away that another place sets.
///
/// ```swift
/// // The connection's limits on attempts and silence stay.
/// let options = CallOptions(timeouts: Timeouts(overall: .seconds(5)))
/// ```
public struct Timeouts: Sendable, Hashable {
    /// The longest that one attempt may take, from its request to the end of its body.
    ///
    /// A redirect's hop and a retry are attempts of their own. Past it the call fails with kind `.timedOut`. A streamed
    /// body ends with it too, whether or not somebody is reading; leave it out for a stream that is meant to last.
    public var attempt: Duration?

    /// The longest that a transport may be silent, with no byte of a body sent or received.
    ///
    /// Past it the call fails with kind `.stalled`. It also limits the wait for the whole head of a response: a part of
    /// a head is no progress. In a streamed body it counts from chunk to chunk, and only while
    /// the reader waits for one: a slow reader is no silence.
    public var stall: Duration?

    /// The longest that the call may take as a whole: redirects, retries, waits and the body.
    ///
    /// Past it the call fails with kind `.deadlineExceeded`, and a streamed body ends with it as with ``attempt``.
    public var overall: Duration?

    /// Makes limits; those that are left out are not set.
    public init(attempt: Duration? = nil, stall: Duration? = nil, overall: Duration? = nil) {
        self.attempt = attempt
        self.stall = stall
        self.overall = overall
    }

    /// No limit, in place of one that another place sets.
    public static let noLimit = Duration.seconds(Int64.max)

    /// No limit at all: a call can wait for ever.
    public static let unlimited = Timeouts(attempt: noLimit, stall: noLimit, overall: noLimit)

    /// What holds where neither the call nor the connection sets a limit.
    static let standard = Timeouts(stall: .seconds(60))

    /// These limits; those that are not set come from others.
    func over(_ others: Timeouts) -> Timeouts {
        Timeouts(
            attempt: attempt ?? others.attempt,
            stall: stall ?? others.stall,
            overall: overall ?? others.overall
        )
    }

    /// The limits that apply: ``noLimit`` is `nil`.
    var applied: Timeouts {
        func limit(_ duration: Duration?) -> Duration? { duration.flatMap { $0 < Self.noLimit ? $0 : nil } }
        return Timeouts(attempt: limit(attempt), stall: limit(stall), overall: limit(overall))
    }
}
