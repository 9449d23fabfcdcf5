// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The places of a shared concurrency limit that an owner has.
public struct SharedPlaces: Sendable, Hashable {
    /// How many requests the owner may have in flight.
    ///
    /// An owner that has more in flight starts none until enough of them have ended.
    public let count: Int
    /// Whether an owner wants more places than it has.
    public let isContended: Bool
    /// The rest of a hold, as by a server's `Retry-After`; no request starts before its end.
    public let hold: Duration

    /// Makes an answer, for a store.
    public init(count: Int, isContended: Bool, hold: Duration = .zero) {
        self.count = count
        self.isContended = isContended
        self.hold = hold
    }
}
