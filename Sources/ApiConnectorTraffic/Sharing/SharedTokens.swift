// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The answer of a token bucket.
public struct SharedTokens: Sendable, Hashable {
    /// How many tokens were taken that can be used now.
    public let readyCount: Int
    /// How many tokens were taken ahead: they can be used one by one, at the bucket's rate.
    public let aheadCount: Int
    /// The time until the first token that was taken ahead can be used; if none was taken, until the next request is
    /// useful.
    ///
    /// Zero if all tokens can be used now.
    public let wait: Duration
    /// Whether the bucket is on hold, as by a server's `Retry-After`.
    ///
    /// ``wait`` is then the rest of the hold. Tokens that were taken before must not be used meanwhile.
    public let isOnHold: Bool

    /// Makes an answer, for a store.
    public init(readyCount: Int, aheadCount: Int = 0, wait: Duration = .zero, isOnHold: Bool = false) {
        self.readyCount = readyCount
        self.aheadCount = aheadCount
        self.wait = wait
        self.isOnHold = isOnHold
    }
}
