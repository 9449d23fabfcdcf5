// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The places of a shared concurrency limit that this instance has: a state machine that gets the time as an argument.
///
/// - The instance asks for the largest number of places that it needed since it last asked, and renews them at an
///   interval. So a request waits for the shared state only if the instance needs one more place than before.
/// - Places are leased, so that the places of a killed process come back.
/// - While the shared state is unavailable, the instance uses the places that it has until their lease ends. Then it
///   uses its share of the limit.
struct LeasedPlaces {
    struct Request: Equatable {
        let wantedCount: Int
        let usedCount: Int
    }

    private let totalCount: Int
    private let shareCount: Int
    private let interval: Duration
    private var count = 0
    /// The end of the lease.
    ///
    /// The lease is counted from the time of asking, so that it does not end later here than in the store.
    private var end: Duration = .zero
    /// The largest number of places that were needed at the same time since the instance last asked.
    private var peakCount = 0
    private var askTime: Duration?
    /// When the places are renewed.
    private var renewalTime: Duration = .zero
    /// The instance does not ask the shared state before this time.
    private var nextAskTime: Duration = .zero
    private var backoff = SharedStateBackoff()

    init(_ totalCount: Int, _ policy: SharedLimitPolicy) {
        self.totalCount = totalCount
        shareCount = max(totalCount / policy.instanceCount, 1)
        interval = policy.refreshInterval
    }

    /// How long places are leased.
    static func leaseDuration(_ policy: SharedLimitPolicy) -> Duration { policy.refreshInterval * 5 }

    /// Whether the shared state is unavailable.
    var isAlone: Bool { backoff.isAway }

    /// Whether a new ``LeasedPlaces`` would behave the same.
    var isEmpty: Bool { count == 0 && askTime == nil && !isAlone }

    /// How many requests may be in flight.
    func count(now: Duration) -> Int {
        let leasedCount = now < end ? count : 0
        return isAlone ? max(leasedCount, shareCount) : leasedCount
    }

    /// Records how many places are needed, and returns the request to send now; nil for none.
    mutating func ask(for neededCount: Int, using usedCount: Int, now: Duration) -> Request? {
        let neededCount = min(neededCount, totalCount)
        peakCount = max(peakCount, neededCount)
        guard askTime == nil, let time = dueTime(for: neededCount, now: now), time <= now else { return nil }
        askTime = now
        defer { peakCount = neededCount }
        return Request(wantedCount: peakCount, usedCount: usedCount)
    }

    /// When to ask again; nil if only another request or a reply of the shared state can change anything.
    func wakeTime(for neededCount: Int, now: Duration) -> Duration? {
        askTime == nil ? dueTime(for: min(neededCount, totalCount), now: now) : nil
    }

    private func dueTime(for neededCount: Int, now: Duration) -> Duration? {
        if neededCount > count(now: now) { return max(nextAskTime, now) }
        if count > 0 { return max(nextAskTime, min(renewalTime, end), now) }
        return isAlone && neededCount > 0 ? max(nextAskTime, now) : nil
    }

    mutating func grant(_ places: SharedPlaces?, now: Duration) {
        let start = askTime ?? now
        askTime = nil
        guard let places else {
            backoff.fail(now: now)
            nextAskTime = backoff.end
            return
        }
        backoff.succeed()
        count = min(places.count, totalCount)
        end = start + interval * 5
        // While instances compete, each asks often, so that it soon gets the places that others give back.
        let pause = places.isContended ? interval / 20 : .zero
        nextAskTime = now + pause
        renewalTime = places.isContended ? nextAskTime : start + interval
    }
}
