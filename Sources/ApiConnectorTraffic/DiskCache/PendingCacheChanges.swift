// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The changes that a ``DiskCacheStorage`` has accepted and not yet written.
///
/// A read applies them to the record on the disk, so it never waits for a write.
///
/// Memory is bounded: there are at most ``maximumCount`` changes. A dropped change leaves only its key, so that no read
/// returns the record that the change should have replaced. There are at most ``maximumOutdatedCount`` such keys; above
/// it, all records are outdated.
struct PendingCacheChanges {
    typealias Change = @Sendable (Data?) -> Data?

    static let maximumCount = 64
    static let maximumOutdatedCount = 4096

    /// The changes of one key, in their order.
    private struct Entry {
        var changes: [(number: Int, change: Change)] = []
        /// The record that is being written, or the record on the disk.
        var base = Base.onDisk
    }

    /// The record that the changes of a key apply to.
    enum Base {
        case onDisk
        /// Nil if there is no record.
        case known(Data?)
    }

    /// The data of a key that a read needs.
    struct View {
        /// The number of the first change that is not being written yet; nil if there is none.
        var firstNumber: Int?
        var changes: [Change] = []
        var base = Base.onDisk
    }

    /// The keys whose records on the disk must not be used.
    enum Outdated {
        case keys(Set<CacheKey>)
        case all

        fileprivate mutating func insert(_ key: CacheKey) {
            guard case .keys(var keys) = self else { return }
            self = .keys([])
            keys.insert(key)
            self = keys.count > maximumOutdatedCount ? .all : .keys(keys)
        }

        fileprivate mutating func subtract(_ removed: Outdated) {
            switch (self, removed) {
            case (_, .all): self = .keys([])
            case (.keys(let keys), .keys(let removed)): self = .keys(keys.subtracting(removed))
            case (.all, .keys): break
            }
        }
    }

    private(set) var outdated = Outdated.keys([])
    /// The outdated records whose files were not removed since then.
    private var unremoved = Outdated.keys([])
    private var entries: [CacheKey: Entry] = [:]
    private var lastNumber = 0

    private var count: Int {
        entries.values.reduce(0) { count, entry in
            if case .known = entry.base { count + entry.changes.count + 1 } else { count + entry.changes.count }
        }
    }

    private func isOutdated(_ key: CacheKey) -> Bool {
        switch outdated {
        case .keys(let keys): keys.contains(key)
        case .all: true
        }
    }

    func view(of key: CacheKey) -> View {
        var entry = entries[key] ?? Entry()
        if case .onDisk = entry.base, isOutdated(key) { entry.base = .known(nil) }
        return View(
            firstNumber: entry.changes.first?.number,
            changes: entry.changes.map(\.change),
            base: entry.base
        )
    }

    /// Accepts a change; returns false if there are too many.
    mutating func append(_ change: @escaping Change, to key: CacheKey) -> Bool {
        guard count < Self.maximumCount else { return false }
        lastNumber += 1
        entries[key, default: Entry()].changes.append((lastNumber, change))
        return true
    }

    /// Drops the changes of a key, and marks its record as outdated.
    ///
    /// - Returns: The dropped changes, which the caller releases outside of its lock.
    mutating func drop(_ key: CacheKey) -> [Change] {
        outdated.insert(key)
        unremoved.insert(key)
        return entries.removeValue(forKey: key)?.changes.map(\.change) ?? []
    }

    /// Drops all changes, and marks all records as outdated.
    mutating func dropAll() -> [Change] {
        defer { entries = [:] }
        outdated = .all
        unremoved = .all
        return entries.values.flatMap { $0.changes.map(\.change) }
    }

    /// The outdated records whose files the caller removes without the lock.
    ///
    /// Another process may put them back, so they stay outdated.
    mutating func takeUnremoved() -> Outdated {
        defer { unremoved = .keys([]) }
        return unremoved
    }

    /// Records that the outdated records were removed from the disk, under the lock.
    mutating func finishRemoval(of removed: Outdated) {
        outdated.subtract(removed)
        unremoved.subtract(removed)
    }

    /// Records that the first change of a key is being written; returns false if the change was dropped.
    mutating func begin(_ number: Int, of key: CacheKey, writing record: Data?) -> Bool {
        guard entries[key]?.changes.first?.number == number else { return false }
        entries[key]?.changes.removeFirst()
        entries[key]?.base = .known(record)
        return true
    }

    /// Records that the disk has the record that was being written.
    mutating func finish(_ key: CacheKey) {
        entries[key]?.base = .onDisk
        if entries[key]?.changes.isEmpty == true { entries[key] = nil }
    }
}
