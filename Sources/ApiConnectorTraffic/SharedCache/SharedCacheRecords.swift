// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The records of a ``SharedCacheStorage`` in the shared state.
///
/// The key of a record contains the cache's generation. A new generation abandons all records, which then expire when
/// their lifetime ends.
final class SharedCacheRecords: Sendable {
    /// A record in memory, with the time at which it was last compared with the record in the shared state.
    struct Dated {
        let time: Duration
        let record: Data

        init(time: Duration, record: Data) {
            self.time = time
            self.record = record
        }

        init(_ data: Data) {
            time = .microseconds(Int64(bitPattern: UInt64(littleEndianBytes: data.prefix(8))))
            record = data.dropFirst(8)
        }

        var data: Data {
            let time = Int64(time / .microseconds(1))
            return withUnsafeBytes(of: time.littleEndian) { Data($0) } + record
        }
    }

    private struct Generation {
        var number: UInt64 = 0
        /// The generation is read again after this time.
        var end: Duration = .zero
        /// Whether the next operation must begin a new generation.
        var isAbandoned = false
        /// Counts the generations that this instance has abandoned or begun.
        var changeCount = 0
    }

    private let state: any SharedState
    private let name: String
    private let namespace: String
    private let seal: @Sendable (Data) throws -> Data
    private let open: @Sendable (Data) throws -> Data
    private let lifetime: Duration
    private let refreshInterval: Duration
    private let limit: Duration
    private let timeSource: any TimeSource
    private let known = Protected(Generation())

    init(
        state: any SharedState,
        name: String,
        namespace: String,
        seal: @escaping @Sendable (Data) throws -> Data,
        open: @escaping @Sendable (Data) throws -> Data,
        lifetime: Duration,
        refreshInterval: Duration,
        limit: Duration,
        timeSource: any TimeSource
    ) {
        self.state = state
        self.name = name
        self.namespace = namespace
        self.seal = seal
        self.open = open
        self.lifetime = lifetime
        self.refreshInterval = refreshInterval
        self.limit = limit
        self.timeSource = timeSource
    }

    /// The record of a key; nil if there is none that can be opened.
    ///
    /// The operations together have the time limit of one.
    func record(for key: CacheKey) async throws(ApiConnectorError) -> Data? {
        let end = timeSource.now + limit
        let place = place(of: key, in: try await generation(before: end))
        let record = try await state.record(for: place, within: end - timeSource.now)
        return opened(record.data, key)
    }

    /// Replaces a record with the result of a function, in up to five attempts.
    ///
    /// - Returns: False if another instance changed the record during each attempt.
    func update(_ key: CacheKey, _ change: @Sendable (Data?) -> Data?) async throws(ApiConnectorError) -> Bool {
        let place = place(of: key, in: try await generation())
        for _ in 0..<5 {
            let record = try await state.record(for: place, within: limit)
            let old = opened(record.data, key)
            let new = change(old)
            if new == old, (old == nil) == (record.data == nil) { return true }
            let version = try await state.replaceRecord(
                with: new.flatMap { sealed($0, key) },
                for: place,
                ifVersion: record.version,
                lifetime: lifetime,
                within: limit
            )
            if version != nil { return true }
        }
        return false
    }

    /// Makes the next operation begin a new generation.
    func abandon() {
        known.withLock { known in
            known.isAbandoned = true
            known.changeCount += 1
        }
    }

    /// The number of the generation, read again after the refresh interval.
    ///
    /// A reply to an operation that started before this instance abandoned or began a generation does not count.
    /// A later generation that the call itself has begun counts.
    ///
    /// - Parameter end: When all operations must have ended; nil means that each operation has its own time limit.
    func generation(before end: Duration? = nil) async throws(ApiConnectorError) -> UInt64 {
        let key = SharedStateKey("\(name)/generation", in: namespace)
        while true {
            let now = timeSource.now
            let start = known.withLock { $0 }
            if start.end > now, !start.isAbandoned { return start.number }
            let record = try await state.record(for: key, within: end.map { $0 - now } ?? limit)
            var number = record.version
            if start.isAbandoned {
                // The generation must be kept longer than the records of earlier generations.
                let new = try await state.replaceRecord(
                    with: Data("generation".utf8),
                    for: key,
                    ifVersion: record.version,
                    lifetime: lifetime * 2,
                    within: end.map { $0 - timeSource.now } ?? limit
                )
                guard let new else { continue }
                number = new
            }
            let isCurrent = known.withLock { known in
                // Two calls may begin a generation at the same time. The other instances use the later one.
                let isLater = start.isAbandoned && !known.isAbandoned && number > known.number
                guard known.changeCount == start.changeCount || isLater else { return false }
                known = Generation(
                    number: number,
                    end: now + refreshInterval,
                    changeCount: known.changeCount + (start.isAbandoned ? 1 : 0)
                )
                return true
            }
            if isCurrent { return number }
        }
    }

    private func place(of key: CacheKey, in generation: UInt64) -> SharedStateKey {
        SharedStateKey("\(name)/\(generation)/\(key)", in: namespace)
    }

    /// Encrypts a record together with its cache key, so that a copy under another cache key is not accepted.
    private func sealed(_ record: Data, _ key: CacheKey) -> Data? {
        try? seal(Data(key.description.utf8) + record)
    }

    private func opened(_ data: Data?, _ key: CacheKey) -> Data? {
        guard let data, let text = try? open(data), text.starts(with: key.description.utf8) else { return nil }
        return text.dropFirst(key.description.utf8.count)
    }
}
