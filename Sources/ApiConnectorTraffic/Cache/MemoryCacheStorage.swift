// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// Stores a cache's records in memory, and removes the least recently used records to make room for new ones.
public final class MemoryCacheStorage: CacheStorage {
    fileprivate struct State {
        var records: [CacheKey: (record: Data, use: Int)] = [:]
        /// All uses, in their order.
        ///
        /// Only the last use of each key counts.
        var uses: [(key: CacheKey, number: Int)] = []
        var firstUse = 0
        var useCount = 0
        var byteCount = 0
    }

    /// The maximum total size of all records in bytes.
    public let maximumByteCount: Int

    /// 32 random bytes, different for each storage.
    public let digestKey: Data

    private let state = Protected(State())

    /// Makes an empty storage.
    ///
    /// - Parameter maximumByteCount: The maximum total size of all records in bytes; 16 MiB by default.
    public init(maximumByteCount: Int = 16 * 1024 * 1024) {
        self.maximumByteCount = maximumByteCount
        digestKey = CacheDigest.newKey()
    }

    /// True, because the records are in memory.
    public var answersWithoutWaiting: Bool { true }

    /// The total size of the records in bytes.
    public var byteCount: Int { state.withLock { $0.byteCount } }

    /// Returns the record of a key, and marks it as used.
    public func record(for key: CacheKey) async -> Data? {
        state.withLock { (state) -> Data? in
            guard let record = state.records[key]?.record else { return nil }
            state.use(key)
            return record
        }
    }

    /// Replaces a record with the result of a function, unless the result is larger than the maximum size.
    public func update(_ key: CacheKey, _ change: @escaping @Sendable (Data?) -> Data?) {
        state.withLock { state in
            let record = change(state.records[key]?.record)
            state.remove(key)
            guard let record, Self.cost(of: record) <= maximumByteCount else { return }
            state.records[key] = (record, 0)
            state.byteCount += Self.cost(of: record)
            state.use(key)
            while state.byteCount > maximumByteCount { state.removeOldest() }
        }
    }

    /// Forgets all records.
    public func removeAll() {
        state.withLock { $0 = State() }
    }

    /// The approximate size of a record in memory, with its key and the entries for its uses.
    fileprivate static func cost(of record: Data) -> Int { record.count + 256 }
}

extension MemoryCacheStorage.State {
    fileprivate mutating func use(_ key: CacheKey) {
        useCount += 1
        records[key]?.use = useCount
        uses.append((key, useCount))
        // Amortized constant time: the filter visits each use about once.
        if uses.count - firstUse > 2 * records.count + 64 || firstUse > uses.count / 2 {
            uses = uses[firstUse...].filter { records[$0.key]?.use == $0.number }
            firstUse = 0
        }
    }

    fileprivate mutating func remove(_ key: CacheKey) {
        guard let removed = records.removeValue(forKey: key) else { return }
        byteCount -= MemoryCacheStorage.cost(of: removed.record)
    }

    fileprivate mutating func removeOldest() {
        let use = uses[firstUse]
        firstUse += 1
        if records[use.key]?.use == use.number { remove(use.key) }
    }
}
