// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Values in memory, of which the least recently used are forgotten.
///
/// There are two generations. When the new one has half of the bytes, it becomes the old one, and the values that were
/// not used since the last time are forgotten.
struct RecentValues<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private typealias Entry = (value: Value, byteCount: Int)

    /// The maximum size of all values in bytes.
    let maximumByteCount: Int

    private var new: [Key: Entry] = [:]
    private var old: [Key: Entry] = [:]
    private var newByteCount = 0

    init(maximumByteCount: Int) {
        self.maximumByteCount = maximumByteCount
    }

    /// The size of both generations.
    var byteCount: Int { old.values.reduce(newByteCount) { $0 + $1.byteCount } }

    /// The value of a key; it is used now.
    mutating func value(for key: Key) -> Value? {
        if let entry = new[key] { return entry.value }
        guard let entry = old[key] else { return nil }
        insert(entry.value, for: key, byteCount: entry.byteCount)
        return entry.value
    }

    /// Keeps a value, unless it is larger than an eighth of the maximum size.
    ///
    /// - Parameter byteCount: The approximate size of the value and its key in memory.
    mutating func insert(_ value: Value, for key: Key, byteCount: Int) {
        old[key] = nil
        if let replaced = new.removeValue(forKey: key) { newByteCount -= replaced.byteCount }
        guard byteCount <= maximumByteCount / 8 else { return }
        if newByteCount + byteCount > maximumByteCount / 2 { (new, old, newByteCount) = ([:], new, 0) }
        new[key] = (value, byteCount)
        newByteCount += byteCount
    }
}
