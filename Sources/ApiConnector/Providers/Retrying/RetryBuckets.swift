// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Counts the retries that each host has left: a token bucket per host, by a ``RetryBudget``.
///
/// A wrapper that sends requests again or twice calls ``earn(by:)`` for each call and ``take(for:)`` before each further
/// request. Only the buckets that are not full are kept, at most 256.
public final class RetryBuckets: Sendable {
    private struct Bucket {
        var tokens: Double
        var time: Duration
    }

    static let maximumCount = 256

    private let budget: RetryBudget
    private let buckets = Locked<[String: Bucket]>([:])

    /// Makes full buckets.
    public init(_ budget: RetryBudget) {
        self.budget = budget
    }

    /// How many buckets are kept.
    var count: Int { buckets.withLock { $0.count } }

    /// Adds the share of a token that a call earns its host.
    public func earn(by request: ApiRequest) {
        // Nothing is asked of the request while every bucket is full.
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

    /// Takes a token of the request's host; false if it has none.
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

    /// Forgets full buckets, or the fullest where none is: the least is given away so.
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
