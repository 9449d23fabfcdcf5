// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The right to do something alone, for a time.
public struct SharedLease: Sendable, Hashable {
    /// What it is for.
    public let key: SharedStateKey
    /// Who has it.
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
