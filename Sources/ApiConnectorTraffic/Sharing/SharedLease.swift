// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The exclusive right to do something for a limited time.
public struct SharedLease: Sendable, Hashable {
    /// The key of the lease.
    public let key: SharedStateKey
    /// The owner of the lease.
    public let owner: String
    /// Tells leases of one key apart: each new one has a higher number.
    public let number: UInt64

    /// Makes a lease, for a store.
    public init(key: SharedStateKey, owner: String, number: UInt64) {
        self.key = key
        self.owner = owner
        self.number = number
    }
}
