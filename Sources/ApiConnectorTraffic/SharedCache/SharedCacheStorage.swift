// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// Stores a cache's records in memory, and in shared state for the other instances of a program.
///
/// ```swift
/// let storage = SharedCacheStorage(
///     named: "products",
///     in: state,
///     digestKey: secret,
///     sealedBy: { try seal($0) },
///     openedBy: { try open($0) }
/// )
/// let provider = SystemProvider().caching(in: storage)
/// ```
///
/// - A call reads the shared state if the memory has no record of the URL, or if the record in memory has not been
///   compared with the record in the shared state for `refreshInterval`, 10 seconds by default. So an invalidation by
///   one instance applies to all instances within this time.
/// - A call waits for the shared state until `operationLimit` or its own deadline ends. No call waits for a write.
/// - While the shared state is unavailable, calls use the records in memory. Without such a record, a call is a miss.
///   Meanwhile each call that reads the cache reports the event `custom("sharedStateUnavailable")`.
/// - If an invalidation does not reach the shared state, this instance ignores the URL's record there, and removes it
///   with a later call for the URL. Another instance can use the record until its freshness ends.
/// - Your closures encrypt and decrypt the records. Use authenticated encryption if others can read the store. The keys
///   of the records are digests.
///
/// For the processes of one machine, ``DiskCacheStorage`` needs no shared state.
public final class SharedCacheStorage: CacheStorage {
    /// The changes of a record that are being written to the shared state.
    fileprivate struct Writes {
        var count = 0
        var last: Task<Void, Never>?
    }

    /// The calls that are reading a record from the shared state.
    fileprivate struct Reads {
        var count = 0
        /// Whether this instance has changed the record meanwhile.
        var isChanged = false
    }

    fileprivate struct State {
        var reads: [CacheKey: Reads] = [:]
        var writes: [CacheKey: Writes] = [:]
        /// The keys whose records in the shared state must not be used.
        var outdated: Set<CacheKey> = []
        var backoff = SharedStateBackoff()
    }

    /// The maximum number of outdated records.
    ///
    /// Above it, all records of the cache in the shared state are abandoned.
    static let maximumOutdatedCount = 256
    static let maximumWriteCount = 64

    /// The secret key for digests, which all instances have.
    public let digestKey: Data

    private let memory: MemoryCacheStorage
    private let records: SharedCacheRecords
    private let refreshInterval: Duration
    private let timeSource: any TimeSource
    private let state = Protected(State())

    /// Makes a storage.
    ///
    /// - Parameters:
    ///   - name: The cache's name, which is the same for all instances; it must not contain a secret.
    ///   - namespace: The program's namespace; "ApiConnector" by default.
    ///   - state: The shared state with the records.
    ///   - digestKey: 32 secret random bytes, which all instances share and the store does not have.
    ///   - seal: Encrypts and authenticates data, such as with AES-GCM and a key that the instances share.
    ///   - open: Decrypts data, and checks it. A record for which it throws is a miss.
    ///   - memory: The first level; 16 MiB by default.
    ///   - lifetime: How long the shared state keeps a record that does not change; 1 day by default.
    ///   - refreshInterval: How long a record in memory is used before it is compared with the record in the shared
    ///     state; 10 seconds by default.
    ///   - operationLimit: The longest time for a read or for one operation of a write; a quarter of a second by
    ///     default. A read may need two operations.
    ///   - timeSource: The clock; ``/ApiConnector/TimeSource/system`` by default.
    public init(
        named name: String,
        namespace: String = "ApiConnector",
        in state: any SharedState,
        digestKey: Data,
        sealedBy seal: @escaping @Sendable (Data) throws -> Data,
        openedBy open: @escaping @Sendable (Data) throws -> Data,
        memory: MemoryCacheStorage = MemoryCacheStorage(),
        lifetime: Duration = .seconds(86_400),
        refreshInterval: Duration = .seconds(10),
        operationLimit: Duration = .milliseconds(250),
        timeSource: any TimeSource = .system
    ) {
        self.digestKey = digestKey
        self.memory = memory
        self.refreshInterval = refreshInterval.bounded
        self.timeSource = timeSource
        records = SharedCacheRecords(
            state: state,
            name: name,
            namespace: namespace,
            seal: seal,
            open: open,
            lifetime: max(lifetime.bounded, .milliseconds(1)),
            refreshInterval: refreshInterval.bounded,
            limit: operationLimit,
            timeSource: timeSource
        )
    }

    /// Whether the shared state is unavailable.
    public var isUnavailable: Bool { state.withLock { $0.backoff.isAway } }

    /// The number of changes that are being written to the shared state.
    var writeCount: Int { state.withLock { $0.writes.values.reduce(0) { $0 + $1.count } } }

    /// Returns the record of a key from memory, or from the shared state.
    public func record(for key: CacheKey) async -> Data? {
        let known = await memory.record(for: key).map { SharedCacheRecords.Dated($0) }
        let now = timeSource.now
        if let known, now < known.time + refreshInterval { return known.record }
        let mayRead = state.withLock { state in
            guard state.writes[key] == nil, !state.outdated.contains(key), state.backoff.isOver(now: now) else {
                return false
            }
            state.reads[key, default: Reads()].count += 1
            return true
        }
        guard mayRead else {
            removeIfOutdated(key)
            return known?.record
        }
        let result: Result<Data?, ApiConnectorError>
        do throws(ApiConnectorError) {
            result = .success(try await records.record(for: key))
        } catch {
            fail(error)
            result = .failure(error)
        }
        keep(result, key)
        return await memory.record(for: key).map { SharedCacheRecords.Dated($0).record }
    }

    /// Replaces the record in memory with the record of the shared state, unless this instance has changed it since.
    private func keep(_ result: Result<Data?, ApiConnectorError>, _ key: CacheKey) {
        let now = timeSource.now
        state.withLock { state in
            let isChanged = state.reads[key]?.isChanged == true
            state.reads[key]?.count -= 1
            if state.reads[key]?.count == 0 { state.reads[key] = nil }
            guard case .success(let record) = result else { return }
            state.backoff.succeed()
            let data = record.map { SharedCacheRecords.Dated(time: now, record: $0).data }
            if !isChanged { memory.update(key) { _ in data } }
        }
    }

    /// Replaces a record with the result of a function: in memory at once, and then in the shared state.
    ///
    /// The function is called once for each level, and again if another instance changes the record at the same time.
    public func update(_ key: CacheKey, _ change: @escaping @Sendable (Data?) -> Data?) {
        let now = timeSource.now
        state.withLock { $0.reads[key]?.isChanged = true }
        memory.update(key) { data in
            let record = change(data.map { SharedCacheRecords.Dated($0).record })
            return record.map { SharedCacheRecords.Dated(time: now, record: $0).data }
        }
        write(key, change)
    }

    /// Forgets all records, including those of the other instances.
    public func removeAll() {
        state.withLock { state in
            for key in state.reads.keys { state.reads[key]?.isChanged = true }
        }
        memory.removeAll()
        records.abandon()
        Task { [self] in
            do throws(ApiConnectorError) { _ = try await records.generation() } catch { fail(error) }
        }
    }

    private func write(_ key: CacheKey, _ change: @escaping @Sendable (Data?) -> Data?) {
        let mustAbandon = state.withLock { state in
            let count = state.writes.values.reduce(0) { $0 + $1.count }
            guard count < Self.maximumWriteCount, state.backoff.isOver(now: timeSource.now) else {
                return state.markOutdated(key)
            }
            // The change must not use an outdated record of the shared state.
            let isOutdated = state.outdated.remove(key) != nil
            var writes = state.writes[key] ?? Writes()
            writes.count += 1
            // The changes of a key are written in their order.
            writes.last = Task { [self, last = writes.last] in
                await last?.value
                await finishWrite(key) { change(isOutdated ? nil : $0) }
            }
            state.writes[key] = writes
            return false
        }
        if mustAbandon { records.abandon() }
    }

    private func finishWrite(_ key: CacheKey, _ change: @escaping @Sendable (Data?) -> Data?) async {
        var isWritten = false
        do throws(ApiConnectorError) {
            isWritten = try await records.update(key, change)
        } catch {
            fail(error)
        }
        let mustAbandon = state.withLock { state in
            state.writes[key]?.count -= 1
            if state.writes[key]?.count == 0 { state.writes[key] = nil }
            if isWritten {
                state.backoff.succeed()
                return false
            }
            return state.markOutdated(key)
        }
        if mustAbandon { records.abandon() }
    }

    private func removeIfOutdated(_ key: CacheKey) {
        let isOutdated = state.withLock { state in
            guard state.writes[key] == nil, state.backoff.isOver(now: timeSource.now) else { return false }
            return state.outdated.remove(key) != nil
        }
        if isOutdated { write(key) { _ in nil } }
    }

    private func fail(_ error: ApiConnectorError) {
        guard error.kind != .cancelled else { return }
        let now = timeSource.now
        state.withLock { $0.backoff.fail(now: now) }
    }
}

extension SharedCacheStorage.State {
    /// Ignores a record of the shared state until it is removed; returns true if there are too many such records.
    fileprivate mutating func markOutdated(_ key: CacheKey) -> Bool {
        outdated.insert(key)
        guard outdated.count > SharedCacheStorage.maximumOutdatedCount else { return false }
        outdated = []
        return true
    }
}
