// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The data of a store for one key, with the rules of ``SharedState``: a state machine that gets the time as an
/// argument.
///
/// Times are whole microseconds on the store's clock.
struct SharedEntry: Codable, Equatable {
    private struct Lease: Codable, Equatable {
        var owner: String
        var end: Int64
        var duration: Int64
    }

    private(set) var version: UInt64 = 0
    private var data: Data?
    /// When the lifetime of the data is over; nil for a record without a lifetime.
    private var dataEnd: Int64?
    private var lease: Lease?
    private var leaseNumber: UInt64 = 0
    /// When the bucket will be full again.
    private var fullTime: Int64 = 0
    /// The time until then when tokens were last taken; nil in a file of an earlier version.
    private var fullLength: Int64?
    /// The bucket grants no tokens before this time.
    private var holdEnd: Int64 = 0
    private var holdLength: Int64 = 0
    private var places: SharedPlacesEntry?

    /// Whether every number is in a range in which no calculation overflows.
    ///
    /// It is false only if another program has changed the file.
    var isValid: Bool {
        let times = [dataEnd, lease?.end, lease?.duration, fullTime, fullLength, holdEnd, holdLength]
        return version <= .max / 2 && leaseNumber <= .max / 2
            && times.allSatisfy { ($0 ?? 0).magnitude <= Int64.max / 2 } && places?.isValid != false
    }

    /// Whether the entry has had no state for a day, so that it can be removed.
    ///
    /// A record without a lifetime keeps its version, even after its data was removed. So no process can mistake a
    /// removal for a loss of the store's data.
    func isOver(now: Int64) -> Bool {
        if version > 0, dataEnd == nil { return false }
        let end = max(dataEnd ?? 0, lease?.end ?? 0, fullTime, holdEnd, places?.end ?? 0)
        return end <= now - Self.day
    }

    mutating func record(now: Int64) -> SharedRecord {
        if let dataEnd, dataEnd <= now { data = nil }
        return SharedRecord(version: version, data: data)
    }

    mutating func replace(
        with new: Data?,
        ifVersion expected: UInt64,
        lifetime: Duration?,
        now: Int64
    ) -> UInt64? {
        guard version == expected else { return nil }
        version = Self.number(after: version, now: now)
        data = new
        dataEnd = lifetime.map { now + $0.inMicroseconds }
        return version
    }

    /// Acquires the lease, and returns its number; nil if another owner has the lease.
    mutating func acquire(_ owner: String, for duration: Duration, now: Int64) -> UInt64? {
        let duration = max(duration.inMicroseconds, 1)
        if var known = lease, known.owner != owner {
            // A clock that was set back must not make a lease longer.
            known.end = min(known.end, now + known.duration)
            lease = known
            if known.end > now { return nil }
        }
        if lease?.owner != owner { leaseNumber = Self.number(after: leaseNumber, now: now) }
        lease = Lease(owner: owner, end: now + duration, duration: duration)
        return leaseNumber
    }

    mutating func end(_ ended: SharedLease) {
        if lease?.owner == ended.owner, leaseNumber == ended.number { lease = nil }
    }

    /// Takes tokens by the virtual scheduling algorithm of ITU-T I.371, as ``RateSchedule`` does.
    mutating func take(_ count: Int, at rate: RequestRate, ahead horizon: Duration, now: Int64) -> SharedTokens {
        let interval = max((rate.duration / rate.count).inMicroseconds, 1)
        let size = interval * min(Int64(rate.burstCount), Int64(Self.largestCount), Int64.max / 8 / interval)
        let hold = hold(now: now)
        if hold > .zero { return SharedTokens(readyCount: 0, wait: hold, isOnHold: true) }
        let horizon = min(horizon.inMicroseconds, Self.longestHorizon)
        // A clock that was set back must not make a wait longer.
        let longest = size + Self.longestHorizon
        let full = max(min(fullTime, now + min(fullLength ?? longest, longest)), now)
        let count = Int64(max(count, 0))
        let ready = min(count, max(now + size - full, 0) / interval)
        // When the first missing token can be used.
        let wait = max(full + interval * (ready + 1) - size - now, 0)
        let ahead = min(count - ready, wait <= horizon ? (horizon - wait) / interval + 1 : 0)
        fullTime = full + interval * (ready + (ready < count ? ahead : 0))
        fullLength = fullTime - now
        return SharedTokens(
            readyCount: Int(ready),
            aheadCount: Int(ready < count ? ahead : 0),
            wait: ready < count ? .microseconds(wait) : .zero
        )
    }

    mutating func takePlaces(
        _ wantedCount: Int,
        of totalCount: Int,
        owner: String,
        using usedCount: Int,
        lasting duration: Duration,
        now: Int64
    ) -> SharedPlaces {
        var places = places ?? SharedPlacesEntry()
        let (count, isContended) = places.take(
            Self.bounded(wantedCount),
            of: Self.bounded(totalCount),
            owner,
            using: Self.bounded(usedCount),
            lasting: max(duration.inMicroseconds, 1),
            now: now
        )
        self.places = places.isEmpty ? nil : places
        return SharedPlaces(count: count, isContended: isContended, hold: hold(now: now))
    }

    /// The time until the hold ends.
    private mutating func hold(now: Int64) -> Duration {
        // A clock that was set back must not make a wait longer.
        holdEnd = min(holdEnd, now + holdLength)
        return .microseconds(max(holdEnd - now, 0))
    }

    mutating func hold(_ duration: Duration, now: Int64) {
        let end = now + duration.inMicroseconds
        guard end > holdEnd else { return }
        holdEnd = end
        holdLength = duration.inMicroseconds
    }

    /// The next version or lease number.
    ///
    /// The first one is the current time. So the numbers of a key continue to grow after its entry was removed.
    private static func number(after last: UInt64, now: Int64) -> UInt64 {
        last == 0 ? UInt64(max(now, 1)) : last + 1
    }

    /// Limits a count to a range in which sums cannot overflow.
    private static func bounded(_ count: Int) -> Int { min(max(count, 0), largestCount) }

    static let largestCount = 1_000_000

    private static let longestHorizon: Int64 = 3_600_000_000
    /// The time for which an entry without state is kept.
    static let day: Int64 = 86_400_000_000
}

extension Duration {
    /// Whole microseconds, between 0 and 100 years.
    fileprivate var inMicroseconds: Int64 {
        let bounded = min(max(self, .zero), .seconds(3_155_760_000 as Int64)).components
        return bounded.seconds * 1_000_000 + bounded.attoseconds / (1_000_000_000_000 as Int64)
    }
}

/// The places of a concurrency limit, by owner: a state machine that gets the time as an argument.
///
/// Times are whole microseconds on the store's clock.
struct SharedPlacesEntry: Codable, Equatable {
    private struct Claim: Codable, Equatable {
        /// The number of places that no other owner can get.
        var heldCount: Int
        var wantedCount: Int
        var end: Int64
        var duration: Int64
    }

    private var claims: [String: Claim] = [:]

    /// Whether no owner has or wants places.
    var isEmpty: Bool { claims.isEmpty }

    /// When the last claim ends; 0 if there is none.
    var end: Int64 { claims.values.map(\.end).max() ?? 0 }

    /// Whether every number is in the range in which ``SharedEntry`` stores it.
    var isValid: Bool {
        claims.values.allSatisfy { claim in
            (0...SharedEntry.largestCount).contains(claim.heldCount)
                && (0...SharedEntry.largestCount).contains(claim.wantedCount)
                && claim.end.magnitude <= Int64.max / 2 && claim.duration.magnitude <= Int64.max / 2
        }
    }

    /// Replaces the places of an owner by the rules of ``SharedState``.
    mutating func take(
        _ wantedCount: Int,
        of totalCount: Int,
        _ owner: String,
        using usedCount: Int,
        lasting duration: Int64,
        now: Int64
    ) -> (count: Int, isContended: Bool) {
        claims[owner] = nil
        for (name, claim) in claims {
            // A clock that was set back must not make a claim longer.
            let end = min(claim.end, now + claim.duration)
            claims[name]?.end = end
            if end <= now { claims[name] = nil }
        }
        let isShort = claims.values.contains { $0.wantedCount > $0.heldCount }
        let freeCount = max(totalCount - claims.values.reduce(0) { $0 + $1.heldCount }, 0)
        var wantedCounts = claims.mapValues(\.wantedCount)
        wantedCounts[owner] = wantedCount
        // A turn is a twentieth of the duration.
        let share = Self.share(of: owner, in: wantedCounts, totalCount, turn: now / max(duration / 20, 1))
        let count = min(wantedCount, share, freeCount)
        let heldCount = max(usedCount, count)
        if heldCount > 0 || wantedCount > 0 {
            claims[owner] = Claim(
                heldCount: heldCount,
                wantedCount: wantedCount,
                end: now + duration,
                duration: duration
            )
        }
        return (count, isShort || wantedCount > count)
    }

    /// The fair share of an owner: owners that want less than an equal share leave the rest to the others.
    private static func share(of owner: String, in wantedCounts: [String: Int], _ totalCount: Int, turn: Int64) -> Int {
        let sorted = wantedCounts.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
        var left = totalCount
        for (index, (name, wantedCount)) in sorted.enumerated() {
            let ownerCount = sorted.count - index
            let share = left / ownerCount
            guard wantedCount <= share else {
                // All of these want more than an equal share. They take turns at the places that are left over.
                let names = sorted[index...].map(\.key).sorted()
                guard let rank = names.firstIndex(of: owner) else { return 0 }
                return share + ((Int64(rank) + turn) % Int64(ownerCount) < left % ownerCount ? 1 : 0)
            }
            if name == owner { return wantedCount }
            left -= wantedCount
        }
        return 0
    }
}
