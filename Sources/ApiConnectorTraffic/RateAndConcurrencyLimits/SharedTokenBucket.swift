// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The unused tokens that this instance has taken from a shared bucket: a state machine that gets the time as an
/// argument.
///
/// While the shared state is unavailable, requests use this instance's share of the rate.
struct SharedTokenBucket {
    /// Tokens that were taken in advance.
    ///
    /// The first can be used at ``time``, and each further one an interval later.
    private struct Ahead {
        var time: Duration
        var count: Int
    }

    private let interval: Duration
    private let shareRate: RequestRate
    private let policy: SharedLimitPolicy
    private var readyCount = 0
    private var ahead: [Ahead] = []
    private var isAsking = false
    /// The time of the next request to the shared state.
    private var nextAskTime: Duration = .zero
    /// The number and time of the last request for tokens.
    ///
    /// The number grows if the instance uses its tokens fast.
    private var batch = (count: 0, time: Duration.zero)
    /// The instance's share, while the shared state is unavailable.
    private var share: RateSchedule?
    private var backoff = SharedStateBackoff()
    /// The time of the last reply.
    private var replyTime: Duration?

    /// - Parameter shareBurstCount: The burst of the instance's share.
    init(_ rate: RequestRate, _ policy: SharedLimitPolicy, shareBurstCount: Int = 1) {
        interval = (rate.duration / rate.count).bounded
        shareRate = RequestRate(
            rate.count,
            per: rate.duration * policy.instanceCount,
            burstCount: shareBurstCount
        )
        self.policy = policy
    }

    /// Whether the shared state is unavailable.
    var isAlone: Bool { share != nil }

    /// Whether a new bucket would behave the same.
    var isEmpty: Bool { readyCount == 0 && ahead.isEmpty && !isAsking && share == nil }

    /// The earliest time at which a request with `count` others ahead of it can start; nil if that is unknown.
    func start(behind count: Int, now: Duration) -> Duration? {
        if count < readyCount { return now }
        var left = count - readyCount
        for part in ahead {
            if left < part.count { return max(part.time + interval * left, now) }
            left -= part.count
        }
        if let share { return share.start(behind: left, now: now) }
        return nil
    }

    /// When to check the first request again; nil while a reply of the shared state is awaited.
    func wakeTime(now: Duration) -> Duration? {
        start(behind: 0, now: now) ?? (isAsking ? nil : max(nextAskTime, now))
    }

    mutating func take(now: Duration) {
        collect(now: now)
        if readyCount > 0 {
            readyCount -= 1
        } else {
            share?.take(now: now)
        }
    }

    /// The number of tokens to take from the shared state now; nil for none.
    ///
    /// - Parameters:
    ///   - waiterCount: The number of requests that wait.
    ///   - startedCount: The number of requests that have just started.
    mutating func ask(for waiterCount: Int, startedCount: Int = 0, now: Duration) -> Int? {
        collect(now: now)
        let known = readyCount + ahead.reduce(0) { $0 + $1.count }
        guard !isAsking, nextAskTime <= now else { return nil }
        // The instance asks as soon as half of a batch is used, so that requests that arrive before the reply find
        // tokens.
        guard known < max(waiterCount, batch.count / 2) else {
            // The bucket may be on hold, so the instance asks from time to time without taking tokens.
            guard waiterCount + startedCount > 0, let replyTime, replyTime + policy.refreshInterval <= now else {
                return nil
            }
            isAsking = true
            return 0
        }
        isAsking = true
        let isFast = batch.count > 0 && now - batch.time < .seconds(1)
        let count = isFast ? batch.count * 2 : batch.count / 2
        batch = (min(max(count, waiterCount, 1), policy.batchCount), now)
        return batch.count
    }

    /// Adds the tokens that the shared state has granted; nil if it is unavailable.
    mutating func grant(_ tokens: SharedTokens?, now: Duration) {
        isAsking = false
        guard let tokens else {
            if share == nil { share = RateSchedule(shareRate) }
            backoff.fail(now: now)
            nextAskTime = backoff.end
            return
        }
        share = nil
        backoff.succeed()
        replyTime = now
        readyCount += tokens.readyCount
        if tokens.aheadCount > 0 {
            ahead.append(Ahead(time: now + tokens.wait, count: tokens.aheadCount))
            nextAskTime = now
        } else {
            // The tokens may be available before the end of the wait, so ask again halfway.
            nextAskTime = tokens.wait > .zero ? now + max(tokens.wait / 2, interval) : now
        }
    }

    /// Makes tokens usable when their time has come.
    private mutating func collect(now: Duration) {
        for index in ahead.indices {
            while ahead[index].count > 0, ahead[index].time <= now {
                ahead[index].count -= 1
                ahead[index].time += interval
                readyCount += 1
            }
        }
        ahead.removeAll { $0.count == 0 }
    }
}
