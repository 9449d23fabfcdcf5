// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The result of taking tokens from a bucket.
public struct SharedTokens: Sendable, Hashable {
    /// How many of the tokens can be used now.
    public let readyCount: Int
    /// How many tokens were taken in advance.
    ///
    /// They can be used later, one by one, at the bucket's rate.
    public let aheadCount: Int
    /// The time until the first token that was taken in advance can be used.
    ///
    /// If there is none, the time until a new request for tokens can succeed.
    ///
    /// Zero if all tokens can be used now.
    public let wait: Duration
    /// Whether the bucket is on hold, for example because of a server's `Retry-After`.
    ///
    /// ``wait`` is then the time until the hold ends. Until then, a process must not use tokens that it took before.
    public let isOnHold: Bool

    /// Makes a result.
    ///
    /// For implementations of ``SharedState``.
    public init(readyCount: Int, aheadCount: Int = 0, wait: Duration = .zero, isOnHold: Bool = false) {
        self.readyCount = readyCount
        self.aheadCount = aheadCount
        self.wait = wait
        self.isOnHold = isOnHold
    }
}
