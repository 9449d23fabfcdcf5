// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// Shared state in the memory of one process.
///
/// In a test, several connections that share one store simulate several processes, and a `ManualClock` controls the
/// time of leases and buckets.
///
/// A record with a lifetime, a lease, a bucket and places are removed from memory at some time after a day without use.
/// A record without a lifetime stays.
public final class MemorySharedState: SharedState {
    private struct State {
        var entries: [SharedStateKey: SharedEntry] = [:]
        /// The number of entries at which those that are over are removed.
        var sweepCount = 1024
    }

    private let timeSource: any TimeSource
    private let state = Protected(State())

    /// The number of entries in memory.
    var entryCount: Int { state.withLock { $0.entries.count } }

    /// Makes an empty store.
    ///
    /// - Parameter timeSource: The store's clock; ``/ApiConnector/TimeSource/system`` by default.
    public init(timeSource: any TimeSource = .system) {
        self.timeSource = timeSource
    }

    /// Returns the record of a key.
    ///
    /// Never waits.
    public func record(for key: SharedStateKey, within limit: Duration) -> SharedRecord {
        change(key) { entry, now in entry.record(now: now) }
    }

    /// Replaces a record.
    ///
    /// Never waits.
    public func replaceRecord(
        with data: Data?,
        for key: SharedStateKey,
        ifVersion version: UInt64,
        lifetime: Duration?,
        within limit: Duration
    ) -> UInt64? {
        change(key) { entry, now in
            entry.replace(with: data, ifVersion: version, lifetime: lifetime, now: now)
        }
    }

    /// Acquires a lease.
    ///
    /// Never waits.
    public func acquireLease(
        of key: SharedStateKey,
        owner: String,
        for duration: Duration,
        within limit: Duration
    ) -> SharedLease? {
        let number = change(key) { entry, now in entry.acquire(owner, for: duration, now: now) }
        return number.map { SharedLease(key: key, owner: owner, number: $0) }
    }

    /// Ends a lease.
    ///
    /// Never waits.
    public func endLease(_ lease: SharedLease, within limit: Duration) {
        change(lease.key) { entry, _ in entry.end(lease) }
    }

    /// Takes tokens.
    ///
    /// Never waits.
    public func takeTokens(
        _ count: Int,
        of key: SharedStateKey,
        at rate: RequestRate,
        ahead horizon: Duration,
        within limit: Duration
    ) -> SharedTokens {
        change(key) { entry, now in entry.take(count, at: rate, ahead: horizon, now: now) }
    }

    /// Replaces the places of an owner.
    ///
    /// Never waits.
    public func takePlaces(
        _ wantedCount: Int,
        of totalCount: Int,
        for key: SharedStateKey,
        owner: String,
        using usedCount: Int,
        lasting duration: Duration,
        within limit: Duration
    ) -> SharedPlaces {
        change(key) { entry, now in
            entry.takePlaces(wantedCount, of: totalCount, owner: owner, using: usedCount, lasting: duration, now: now)
        }
    }

    /// Stops granting tokens for a time.
    ///
    /// Never waits.
    public func holdTokens(of key: SharedStateKey, for duration: Duration, within limit: Duration) {
        change(key) { entry, now in entry.hold(duration, now: now) }
    }

    private func change<Result: Sendable>(
        _ key: SharedStateKey,
        _ body: (inout SharedEntry, _ now: Int64) -> Result
    ) -> Result {
        let now = Int64(timeSource.now / .microseconds(1))
        return state.withLock { state in
            var entry = state.entries[key] ?? SharedEntry()
            let result = body(&entry, now)
            // Reading a missing record does not create an entry.
            state.entries[key] = entry == SharedEntry() ? nil : entry
            if state.entries.count >= state.sweepCount {
                state.entries = state.entries.filter { !$0.value.isOver(now: now) }
                // With twice the number, the sweeps add only a constant time to each operation on average.
                state.sweepCount = max(state.entries.count * 2, 1024)
            }
            return result
        }
    }
}
