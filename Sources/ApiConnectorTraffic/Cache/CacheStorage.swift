// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// Stores the records of ``ApiConnector/DataRequestType/caching(in:maximumBodyByteCount:)``.
///
/// The library has ``MemoryCacheStorage``, ``DiskCacheStorage`` and ``SharedCacheStorage``. Your own storage keeps
/// bytes under keys, and may forget any record at any time. It does not need to know what the bytes mean, how long they
/// are valid or for whom. The cache does not detect every damaged record, so a storage whose bytes can be damaged must
/// check them.
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
    /// The key for digests of URLs and credentials, so that records and keys contain neither.
    ///
    /// It has 32 random bytes, and must stay the same as long as the storage has records.
    var digestKey: Data { get }

    /// Returns the newest record of a key; nil if there is none.
    ///
    /// The call waits for the record, until it is canceled or times out.
    func record(for key: CacheKey) async -> Data?

    /// Returns the newest record of a key to a call; nil if there is none.
    ///
    /// A cancellation and the deadline of the call end the wait. By default, the call gets the result of
    /// ``record(for:)`` directly if ``answersWithoutWaiting`` is true, and otherwise from a separate task. Implement this
    /// method if a closure can end the wait, because the call then needs no task: [Writing a
    /// provider](/documentation/apiconnector/writingaprovider) explains `withDeadline(_:onStop:)`.
    ///
    /// - Throws: ``ApiConnector/ApiConnectorError`` of kind `.cancelled` or `.deadlineExceeded`.
    func record(for key: CacheKey, to request: ApiRequest) async throws(ApiConnectorError) -> Data?

    /// Whether ``record(for:)`` returns without waiting for anything; false by default.
    ///
    /// If true, a call reads the record directly. If false, a separate task reads it, so that a cancellation and the
    /// deadline can end the call's wait.
    var answersWithoutWaiting: Bool { get }

    /// Atomically replaces the record of a key with the result of a function.
    ///
    /// The function receives the old record, or nil if there is none. A nil result removes the record.
    ///
    /// The method returns at once, because no call waits for a write. From then on ``record(for:)`` returns the result.
    /// The function is short, and may run several times and on any thread. A storage without room removes the record.
    func update(_ key: CacheKey, _ change: @escaping @Sendable (Data?) -> Data?)

    /// Forgets all records.
    func removeAll()

    /// Whether a part of the storage cannot be reached, so that calls may not find stored responses; false by default.
    ///
    /// Meanwhile each call that reads the storage reports the event `custom("sharedStateUnavailable")`.
    var isUnavailable: Bool { get }
}

extension CacheStorage {
    /// Returns the result of ``record(for:)``, which a separate task waits for if it may wait.
    public func record(for key: CacheKey, to request: ApiRequest) async throws(ApiConnectorError) -> Data? {
        // A storage that never waits leaves no task behind.
        if answersWithoutWaiting { return await record(for: key) }
        return try await request.withDeadline { await record(for: key) }
    }

    /// False.
    public var answersWithoutWaiting: Bool { false }

    /// False.
    public var isUnavailable: Bool { false }
}
