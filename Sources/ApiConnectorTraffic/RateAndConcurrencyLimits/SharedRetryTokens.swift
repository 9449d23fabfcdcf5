// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// The retry tokens of each host that all instances of a program share.
///
/// - The shared state has a bucket with the tokens of the burst and those that are added over time. An instance takes
///   them in small batches.
/// - The tokens that calls earn stay with the instance that sent the calls, up to its share of the burst.
final class SharedRetryTokens: RetryTokenSource {
    private struct Bucket {
        var tokens: SharedTokenBucket
        var earnedCount = 0.0
        /// The task that asks for tokens, which ends with the reply of the shared state.
        var asking: Task<Void, Never>?
    }

    private enum Answer {
        case taken, empty
        case asking(Task<Void, Never>)
    }

    static let maximumCount = 256

    private let budget: RetryBudget
    private let shared: SharedLimit
    private let rate: RequestRate
    private let policy: SharedLimitPolicy
    /// This instance's share of the burst.
    private let shareCount: Int
    private let buckets = Protected<[String: Bucket]>([:])

    init(_ budget: RetryBudget, _ shared: SharedLimit) {
        self.budget = budget
        self.shared = shared
        // A store could never forget a bucket that gets no new tokens, so each bucket gets at least one per day.
        let countPerSecond = budget.countPerSecond > 1 / 86_400 ? budget.countPerSecond : 1 / 86_400
        rate = RequestRate(1, per: .seconds(1 / countPerSecond), burstCount: budget.burstCount)
        shareCount = max(budget.burstCount / shared.policy.instanceCount, 1)
        var policy = shared.policy
        policy.batchCount = min(policy.batchCount, shareCount)
        policy.horizon = .zero
        self.policy = policy
    }

    /// The number of buckets in memory.
    var count: Int { buckets.withLock { $0.count } }

    func earn(by request: ApiRequest) {
        guard budget != .unlimited, budget.share > 0 else { return }
        let host = request.retryHost
        buckets.withLock { buckets in
            // A host whose requests have not been retried has all its tokens.
            guard let count = buckets[host]?.earnedCount else { return }
            buckets[host]?.earnedCount = min(count + budget.share, Double(shareCount))
        }
    }

    func take(for request: ApiRequest) async -> Bool {
        guard budget != .unlimited else { return true }
        guard budget.burstCount > 0 else { return false }
        let host = request.retryHost
        var answer = take(host, request.timeSource)
        // Other calls may take the tokens that this call has waited for.
        while case .asking(let task) = answer {
            do throws(ApiConnectorError) {
                try await request.withDeadline { await task.value }
            } catch {
                // A canceled call is told to retry. The wait before the retry then throws the cancellation.
                return error.kind == .cancelled
            }
            answer = take(host, request.timeSource)
        }
        if buckets.withLock({ $0[host]?.tokens.isAlone == true }) {
            request.reportUnavailableState(of: "retries", shared.name)
        }
        if case .taken = answer { return true }
        return false
    }

    private func take(_ host: String, _ timeSource: any TimeSource) -> Answer {
        let now = timeSource.now
        return buckets.withLock { buckets in
            if buckets[host] == nil, buckets.count >= Self.maximumCount {
                buckets = buckets.filter { !$0.value.tokens.isEmpty }
                if buckets.count >= Self.maximumCount { buckets = [:] }
            }
            var bucket =
                buckets[host] ?? Bucket(tokens: SharedTokenBucket(rate, policy, shareBurstCount: shareCount))
            defer { buckets[host] = bucket }
            var isTaken = false
            if bucket.earnedCount >= 1 {
                bucket.earnedCount -= 1
                isTaken = true
            } else if let start = bucket.tokens.start(behind: 0, now: now), start <= now {
                bucket.tokens.take(now: now)
                isTaken = true
            }
            if let count = bucket.tokens.ask(for: isTaken ? 0 : 1, now: now) {
                bucket.asking = Task { [self] in await ask(for: count, host, timeSource) }
            }
            if isTaken { return .taken }
            return bucket.asking.map { .asking($0) } ?? .empty
        }
    }

    private func ask(for count: Int, _ host: String, _ timeSource: any TimeSource) async {
        let tokens = try? await shared.state.takeTokens(
            count,
            of: SharedStateKey("\(shared.name)/\(host)", in: shared.namespace),
            at: rate,
            ahead: .zero,
            within: policy.operationLimit
        )
        let now = timeSource.now
        buckets.withLock { buckets in
            buckets[host]?.tokens.grant(tokens, now: now)
            buckets[host]?.asking = nil
        }
    }
}

extension DataRequestType {
    /// Returns this provider, retrying as by ``/ApiConnector/DataRequestType/retrying(_:)``, with a retry budget that
    /// several instances share.
    ///
    /// All instances together have the budget's ``/ApiConnector/RetryBudget/burstCount`` and
    /// ``/ApiConnector/RetryBudget/countPerSecond`` for each host. Each instance also has the retries that its own
    /// calls earn.
    ///
    /// ```swift
    /// let provider = SystemProvider().retrying(sharedAs: SharedLimit(named: "retries", in: state))
    /// ```
    ///
    /// - A retry waits for the shared state only if its instance has no token left, and never beyond the call's
    ///   deadline.
    /// - An instance's share of the burst is the burst divided by ``SharedLimitPolicy/instanceCount``. The instance
    ///   takes up to one share of tokens at a time, and can use them later. So in any period, each instance can exceed
    ///   the budget by up to two and a half shares.
    /// - While the shared state is unavailable, each instance uses its share of the budget. Meanwhile each failed
    ///   call reports the event `custom("sharedStateUnavailable")`.
    ///
    /// - Parameters:
    ///   - policy: When and how often to retry; `RetryPolicy.standard` by default.
    ///   - shared: The shared state with the tokens, and how an instance takes them.
    public func retrying(
        _ policy: RetryPolicy = .standard,
        sharedAs shared: SharedLimit
    ) -> some DataRequestType {
        var policy = policy
        policy.tokens = SharedRetryTokens(policy.budget, shared)
        return retrying(policy)
    }
}

extension ApiRequest {
    fileprivate var retryHost: String { url.host(percentEncoded: true)?.lowercased() ?? "" }
}
