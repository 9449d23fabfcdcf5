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
