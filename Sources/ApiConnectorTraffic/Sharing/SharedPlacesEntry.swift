// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

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
