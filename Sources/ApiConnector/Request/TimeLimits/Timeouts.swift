// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// How long a call may take; nil is without limit.
public struct Timeouts: Sendable, Hashable {
    /// The longest that one attempt may take, from its request to the end of its body; no limit by default.
    ///
    /// A redirect's hop and a retry are attempts of their own. Past it the call fails with kind `.timedOut`. A streamed
    /// body ends with it too, whether or not somebody is reading; leave it out for a stream that is meant to last.
    public var attempt: Duration?

    /// The longest that a transport may be silent, with no byte of a body sent or received; 60 seconds by default.
    ///
    /// Past it the call fails with kind `.stalled`. It also limits the wait for the whole head of a response: a part of
    /// a head is no progress. In a streamed body it counts from chunk to chunk, and only while
    /// the reader waits for one: a slow reader is no silence.
    public var stall: Duration?

    /// The longest that the call may take as a whole: redirects, retries, waits and the body; no limit by default.
    ///
    /// Past it the call fails with kind `.deadlineExceeded`, and a streamed body ends with it as with ``attempt``.
    public var overall: Duration?

    /// Makes limits.
    public init(attempt: Duration? = nil, stall: Duration? = .seconds(60), overall: Duration? = nil) {
        self.attempt = attempt
        self.stall = stall
        self.overall = overall
    }

    /// No limit at all: a call can wait for ever.
    public static let unlimited = Timeouts(attempt: nil, stall: nil, overall: nil)
}
