// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Limits the retries per host with a token bucket, so that retries do not keep an overloaded host down.
///
/// A retry takes a token. Calls and time add tokens, up to ``burstCount``. Without a token, there is no retry.
public struct RetryBudget: Sendable, Hashable {
    /// The initial and maximum number of tokens, which is the maximum number of retries in a row; 20 by default.
    public var burstCount: Int

    /// The number of retries that each call earns for its host; 0.2 by default, which allows a fifth more requests.
    public var share: Double

    /// The number of retries that a host earns per second; 1 by default.
    public var countPerSecond: Double

    /// Makes a budget.
    public init(burstCount: Int = 20, share: Double = 0.2, countPerSecond: Double = 1) {
        self.burstCount = burstCount
        self.share = share
        self.countPerSecond = countPerSecond
    }

    /// No limit except that of the policy.
    public static let unlimited = RetryBudget(burstCount: .max)
}

/// A source of tokens for retries; see ``RetryPolicy/tokens``.
///
/// ``RetryBuckets`` counts the tokens of each host in this process. Another source can share them between processes.
public protocol RetryTokenSource: Sendable {
    /// Adds the tokens that a call earns for its host.
    func earn(by request: ApiRequest)

    /// Takes a token for a retry; returns false if there is none.
    ///
    /// The retry waits for the result. Do not wait beyond the request's deadline.
    func take(for request: ApiRequest) async -> Bool
}

extension RetryBuckets: RetryTokenSource {}

/// Counts the retries that each host has left, in one token bucket per host according to a ``RetryBudget``.
///
/// A wrapper that sends requests more than once calls ``earn(by:)`` for each call, and ``take(for:)`` before each
/// further request. Only buckets that are not full are kept, at most 256.
public final class RetryBuckets: Sendable {
    private struct Bucket {
        var tokens: Double
        var time: Duration
    }

    static let maximumCount = 256

    private let budget: RetryBudget
    private let buckets = Locked<[String: Bucket]>([:])

    /// Makes buckets that are full.
    public init(_ budget: RetryBudget) {
        self.budget = budget
    }

    /// The number of buckets in memory.
    var count: Int { buckets.withLock { $0.count } }

    /// Adds the tokens that a call earns for its host.
    public func earn(by request: ApiRequest) {
        // Returns early while every bucket is full.
        guard budget != .unlimited, buckets.withLock({ !$0.isEmpty }) else { return }
        let host = request.url.retryHost
        let now = request.timeSource.now
        buckets.withLock { buckets in
            guard var bucket = buckets[host] else { return }
            bucket = filled(bucket, now)
            bucket.tokens += budget.share
            buckets[host] = bucket.tokens < Double(budget.burstCount) ? bucket : nil
        }
    }

    /// Takes a token from the bucket of the request's host; false if it is empty.
    public func take(for request: ApiRequest) -> Bool {
        guard budget != .unlimited else { return true }
        let host = request.url.retryHost
        let now = request.timeSource.now
        return buckets.withLock { buckets in
            var bucket = filled(buckets[host] ?? Bucket(tokens: Double(budget.burstCount), time: now), now)
            let isThere = bucket.tokens >= 1
            if isThere { bucket.tokens -= 1 }
            if buckets[host] == nil, buckets.count >= Self.maximumCount { makeRoom(in: &buckets, now) }
            buckets[host] = bucket
            return isThere
        }
    }

    private func filled(_ bucket: Bucket, _ now: Duration) -> Bucket {
        let earned = max((now - bucket.time) / .seconds(1), 0) * budget.countPerSecond
        return Bucket(tokens: min(bucket.tokens + earned, Double(budget.burstCount)), time: max(now, bucket.time))
    }

    /// Removes full buckets.
    ///
    /// If there are none, removes the fullest one, whose loss changes least.
    private func makeRoom(in buckets: inout [String: Bucket], _ now: Duration) {
        buckets = buckets.filter { filled($0.value, now).tokens < Double(budget.burstCount) }
        guard buckets.count >= Self.maximumCount else { return }
        let fullest = buckets.max { filled($0.value, now).tokens < filled($1.value, now).tokens }
        if let fullest { buckets[fullest.key] = nil }
    }
}

extension URL {
    fileprivate var retryHost: String { host(percentEncoded: true)?.lowercased() ?? "" }
}
