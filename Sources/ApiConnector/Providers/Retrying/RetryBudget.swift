// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// How many retries a host is asked to bear, so that clients that retry do not keep it down: a token bucket a host.
///
/// A retry takes a token. Calls and time bring tokens back, up to ``burstCount``; without one a failure is final.
public struct RetryBudget: Sendable, Hashable {
    /// The most retries in a row, and what a host starts with; 20 by default.
    public var burstCount: Int

    /// How many retries each call earns its host; 0.2, a fifth more requests, by default.
    public var share: Double

    /// How many retries each second earns a host; 1 by default.
    public var countPerSecond: Double

    /// Makes a budget.
    public init(burstCount: Int = 20, share: Double = 0.2, countPerSecond: Double = 1) {
        self.burstCount = burstCount
        self.share = share
        self.countPerSecond = countPerSecond
    }

    /// No limit but the policy's own.
    public static let unlimited = RetryBudget(burstCount: .max)
}

/// The buckets of all hosts that have less than a full one; at most 256.
final class RetryBuckets: Sendable {
    private struct Bucket {
        var tokens: Double
        var time: Duration
    }

    static let maximumCount = 256

    private let budget: RetryBudget
    private let buckets = Locked<[String: Bucket]>([:])

    init(_ budget: RetryBudget) {
        self.budget = budget
    }

    /// How many buckets are kept.
    var count: Int { buckets.withLock { $0.count } }

    /// Notes a call; nothing is asked of the request while every bucket is full.
    func earn(by request: ApiRequest) {
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

    /// Takes a token; false if there is none.
    func take(for request: ApiRequest) -> Bool {
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
