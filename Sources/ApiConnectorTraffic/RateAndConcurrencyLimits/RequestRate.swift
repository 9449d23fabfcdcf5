// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A rate limit: a token bucket, which starts full.
public struct RequestRate: Sendable, Hashable {
    /// How many requests may start in the duration, evenly spaced.
    public let count: Int

    /// The time in which ``count`` requests may start.
    public let duration: Duration

    /// How many requests may start at once after a pause: the size of the bucket.
    public let burstCount: Int

    /// Makes a rate.
    ///
    /// - Parameters:
    ///   - count: The number of requests; at least 1.
    ///   - duration: The time in which they may start; zero or less means no limit.
    ///   - burstCount: How many requests may start at once after a pause; 1 by default, which spaces them evenly. With
    ///     a larger number, up to `count` + `burstCount` - 1 requests may start in one duration.
    public init(_ count: Int, per duration: Duration, burstCount: Int = 1) {
        self.count = max(count, 1)
        self.duration = max(duration, .zero)
        self.burstCount = max(burstCount, 1)
    }
}

/// A token bucket, stored as the time at which the bucket will be full again.
///
/// Times are whole attoseconds, so that no rounding can make a wait endless.
///
/// This is the virtual scheduling algorithm of ITU-T I.371. It gives the same results as a count of tokens.
struct RateSchedule {
    private let interval: Duration
    private let tolerance: Duration
    private var fullTime: Duration = .zero

    init(_ rate: RequestRate) {
        interval = (rate.duration / rate.count).bounded
        tolerance = interval * (min(rate.burstCount, 1_000_000) - 1)
    }

    /// When a request with `count` others ahead of it may start.
    func start(behind count: Int, now: Duration) -> Duration {
        max(fullTime, now) + interval * count - tolerance
    }

    mutating func take(now: Duration) {
        fullTime = max(fullTime, now) + interval
    }

    func isFull(now: Duration) -> Bool { fullTime <= now }
}

/// When the next requests may start, by the rate of a limit.
enum RequestPace {
    case unlimited
    /// A rate of this instance.
    case own(RateSchedule)
    /// A rate that several instances share.
    case shared(SharedTokenBucket)

    init(_ rate: RequestRate?, _ policy: SharedLimitPolicy?) {
        switch (rate, policy) {
        case (nil, _): self = .unlimited
        case (let rate?, nil): self = .own(RateSchedule(rate))
        case (let rate?, let policy?): self = .shared(SharedTokenBucket(rate, policy))
        }
    }

    var isShared: Bool {
        if case .shared = self { true } else { false }
    }

    /// Whether the shared state is unavailable.
    var isAlone: Bool {
        if case .shared(let bucket) = self { bucket.isAlone } else { false }
    }

    /// Whether a new pace would behave the same.
    func isForgettable(now: Duration) -> Bool {
        switch self {
        case .unlimited: true
        case .own(let schedule): schedule.isFull(now: now)
        case .shared(let bucket): bucket.isEmpty
        }
    }

    /// The earliest time at which a request with `count` others ahead of it can start; nil if that is unknown.
    func start(behind count: Int, now: Duration) -> Duration? {
        switch self {
        case .unlimited: now
        case .own(let schedule): schedule.start(behind: count, now: now)
        case .shared(let bucket): bucket.start(behind: count, now: now)
        }
    }

    /// When to check the first request again; nil while a reply of the shared state is awaited.
    func wakeTime(now: Duration) -> Duration? {
        if case .shared(let bucket) = self { bucket.wakeTime(now: now) } else { now }
    }

    /// Records that a request starts.
    mutating func take(now: Duration) {
        if case .own(var schedule) = self {
            schedule.take(now: now)
            self = .own(schedule)
        } else {
            changeBucket { $0.take(now: now) }
        }
    }

    /// The number of tokens to take from the shared state now; nil for none.
    mutating func ask(for waiterCount: Int, startedCount: Int, now: Duration) -> Int? {
        changeBucket { $0.ask(for: waiterCount, startedCount: startedCount, now: now) } ?? nil
    }

    /// Adds the tokens that the shared state has granted; nil if it is unavailable.
    mutating func grant(_ tokens: SharedTokens?, now: Duration) {
        changeBucket { $0.grant(tokens, now: now) }
    }

    @discardableResult
    private mutating func changeBucket<Result>(_ change: (inout SharedTokenBucket) -> Result) -> Result? {
        guard case .shared(var bucket) = self else { return nil }
        // So that the bucket has one owner, and its array is not copied.
        self = .unlimited
        defer { self = .shared(bucket) }
        return change(&bucket)
    }
}
