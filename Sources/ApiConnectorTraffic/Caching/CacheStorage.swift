// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// Where a provider that is ``ApiConnector/DataRequestType/caching(in:maximumBodyByteCount:)`` keeps its records.
///
/// ``MemoryCacheStorage`` and ``DiskCacheStorage`` are two. One of your own keeps bytes under keys: what they mean, how
/// long they are good and for whom is not its concern, and it may forget any of them at any time. Bytes that come back
/// other than they were stored are taken for no record where that shows; a storage that can be damaged checks them
/// itself.
///
/// ```swift
/// final class DictionaryStorage: CacheStorage {
///     private let records = Mutex<[CacheKey: Data]>([:])
///     let answersWithoutWaiting = true
///     let digestKey = Data((0..<32).map { _ in UInt8.random(in: 0...255) })
///
///     func record(for key: CacheKey) async -> Data? { records.withLock { $0[key] } }
///
///     func update(_ key: CacheKey, _ change: @escaping @Sendable (Data?) -> Data?) {
///         records.withLock { records in
///             records[key] = change(records[key])
///             // A storage is bounded.
///             if records.count > 100, let other = records.keys.first(where: { $0 != key }) { records[other] = nil }
///         }
///     }
///
///     func removeAll() { records.withLock { $0 = [:] } }
/// }
/// ```
public protocol CacheStorage: Sendable {
    /// What addresses and credentials are digested with, so that neither is in a record or a key: 32 random bytes,
    /// the same as long as the records are to be found.
    var digestKey: Data { get }

    /// The newest record of a key; nil where there is none.
    ///
    /// The call waits for it, at most until its own cancel or limit of time.
    func record(for key: CacheKey) async -> Data?

    /// Whether ``record(for:)`` returns without waiting for anything; false by default.
    ///
    /// A call then reads the record directly. Otherwise its own task reads it, so that a cancellation and the deadline
    /// can end the call's wait.
    var answersWithoutWaiting: Bool { get }

    /// Puts what a function makes of a record in its place: nil for none, on both sides.
    ///
    /// No call waits for what is stored: it returns at once, ``record(for:)`` finds the result from then on, and no
    /// other update of the key comes between. The function is short and may run on any thread; a storage that has no
    /// room keeps nothing of the key.
    func update(_ key: CacheKey, _ change: @escaping @Sendable (Data?) -> Data?)

    /// Forgets all records.
    func removeAll()
}

extension CacheStorage {
    /// False.
    public var answersWithoutWaiting: Bool { false }
}
