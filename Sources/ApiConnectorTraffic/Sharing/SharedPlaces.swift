// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The places of a shared concurrency limit that an owner has.
public struct SharedPlaces: Sendable, Hashable {
    /// How many requests the owner may have in flight.
    ///
    /// An owner with more requests in flight starts none until enough of them have ended.
    public let count: Int
    /// Whether any owner wants more places than it has.
    public let isContended: Bool
    /// The time until a hold ends, such as a server's `Retry-After`; zero if there is no hold.
    ///
    /// The owner must not start a request before that.
    public let hold: Duration

    /// Makes a result.
    ///
    /// For implementations of ``SharedState``.
    public init(count: Int, isContended: Bool, hold: Duration = .zero) {
        self.count = count
        self.isContended = isContended
        self.hold = hold
    }
}
