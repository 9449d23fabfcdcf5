// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A lock that expires: the exclusive right to do something for a limited time.
public struct SharedLease: Sendable, Hashable {
    /// The key of the lease.
    public let key: SharedStateKey
    /// The owner of the lease.
    public let owner: String
    /// The lease's number.
    ///
    /// Each new lease of a key has a higher number than the last.
    public let number: UInt64

    /// Makes a lease.
    ///
    /// For implementations of ``SharedState``.
    public init(key: SharedStateKey, owner: String, number: UInt64) {
        self.key = key
        self.owner = owner
        self.number = number
    }
}
