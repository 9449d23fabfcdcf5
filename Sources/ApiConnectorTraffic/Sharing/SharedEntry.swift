// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// What a store keeps for one key, and the rules of ``SharedState``; a state machine that gets the time.
///
/// Times are whole microseconds on the store's clock.
struct SharedEntry: Codable, Equatable {
    private struct Lease: Codable, Equatable {
        var owner: String
        var end: Int64
        var duration: Int64
    }

    private var version: UInt64 = 0
    private var data: Data?
    private var dataEnd: Int64?
    private var lease: Lease?
    private var leaseNumber: UInt64 = 0
    /// When the bucket will be full again.
    private var fullTime: Int64 = 0

    func record(now: Int64) -> SharedRecord {
        SharedRecord(version: version, data: dataEnd.map { $0 <= now } == true ? nil : data)
    }

    mutating func replace(
        with new: Data?,
        ifVersion expected: UInt64,
        lifetime: Duration?,
        now: Int64
    ) -> UInt64? {
        guard version == expected else { return nil }
        version += 1
        data = new
        dataEnd = lifetime.map { now + $0.inMicroseconds }
        return version
    }

    /// The number of the lease; nil if another owner has the lease.
    mutating func acquire(_ owner: String, for duration: Duration, now: Int64) -> UInt64? {
        let duration = max(duration.inMicroseconds, 1)
        if var known = lease, known.owner != owner {
            // A clock that was set back must not make a lease longer.
            known.end = min(known.end, now + known.duration)
            lease = known
            if known.end > now { return nil }
        }
        if lease?.owner != owner { leaseNumber += 1 }
        lease = Lease(owner: owner, end: now + duration, duration: duration)
        return leaseNumber
    }

    mutating func end(_ ended: SharedLease) {
        if lease?.owner == ended.owner, leaseNumber == ended.number { lease = nil }
    }

    /// Takes tokens by the virtual scheduling algorithm of ITU-T I.371, as ``RateSchedule`` does.
    mutating func take(_ count: Int, every interval: Duration, burstCount: Int, now: Int64) -> SharedTokens {
        let interval = max(interval.inMicroseconds, 1)
        let burst = Int64(min(max(burstCount, 1), 1_000_000))
        // No later than a clock that was not set back would have it.
        let full = min(max(fullTime, now), now + interval * burst)
        let freeTime = now + interval * burst - full
        let granted = min(Int64(max(count, 0)), freeTime / interval)
        fullTime = full + interval * granted
        let wait = granted < count ? interval - (freeTime - interval * granted) : 0
        return SharedTokens(grantedCount: Int(granted), wait: .microseconds(max(wait, 0)))
    }
}

extension Duration {
    /// Whole microseconds, between 0 and 100 years.
    fileprivate var inMicroseconds: Int64 {
        let bounded = min(max(self, .zero), .seconds(3_155_760_000))
        return bounded.components.seconds * 1_000_000 + bounded.components.attoseconds / 1_000_000_000_000
    }
}
