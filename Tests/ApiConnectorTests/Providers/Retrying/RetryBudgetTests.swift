// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector

struct RetryBudgetTests {
    private let clock = ManualClock()

    private func request(_ host: String = "api.example.com") -> ApiRequest {
        var request = ApiRequest(url: URL(string: "http://\(host)/posts") ?? URL(filePath: ""))
        request.timeSource = clock
        return request
    }

    private func takes(_ buckets: RetryBuckets, _ host: String = "api.example.com") -> Int {
        var count = 0
        while count < 1_000, buckets.take(for: request(host)) { count += 1 }
        return count
    }

    @Test func aHostStartsWithAFullBucket() {
        #expect(takes(RetryBuckets(RetryBudget(burstCount: 7))) == 7)
    }

    @Test func timeRefillsTheBucketUpToItsSize() {
        let buckets = RetryBuckets(RetryBudget(burstCount: 5, countPerSecond: 2))
        #expect(takes(buckets) == 5)
        clock.advance(by: .milliseconds(1_500))
        #expect(takes(buckets) == 3)
        clock.advance(by: .seconds(1_000))
        #expect(takes(buckets) == 5)
    }

    @Test func callsRefillTheBucket() {
        let buckets = RetryBuckets(RetryBudget(burstCount: 5, share: 0.25, countPerSecond: 0))
        #expect(takes(buckets) == 5)
        for _ in 0..<12 { buckets.earn(by: request()) }
        #expect(takes(buckets) == 3)
    }

    @Test func eachHostHasItsOwnBucket() {
        let buckets = RetryBuckets(RetryBudget(burstCount: 2, countPerSecond: 0))
        #expect(takes(buckets, "one.example.com") == 2)
        #expect(takes(buckets, "two.example.com") == 2)
        #expect(takes(buckets, "ONE.example.com") == 0)
    }

    @Test func aFullBucketIsForgotten() {
        let buckets = RetryBuckets(RetryBudget(burstCount: 2))
        #expect(buckets.take(for: request()))
        #expect(buckets.count == 1)
        clock.advance(by: .seconds(10))
        buckets.earn(by: request())
        #expect(buckets.count == 0)
    }

    @Test func theTableIsBoundedAndEmptyBucketsStay() {
        let buckets = RetryBuckets(RetryBudget(burstCount: 2, countPerSecond: 0))
        #expect(takes(buckets, "empty.example.com") == 2)
        for number in 0..<1_000 { #expect(buckets.take(for: request("h\(number).example.com"))) }
        #expect(buckets.count == RetryBuckets.maximumCount)
        #expect(takes(buckets, "empty.example.com") == 0)
    }

    @Test func withoutALimitNothingIsKept() {
        let buckets = RetryBuckets(.unlimited)
        #expect(takes(buckets) == 1_000)
        #expect(buckets.count == 0)
    }

    /// A host that is down gets a burst, a fifth more than its calls, and one retry a second.
    @Test func retriesDoNotOverloadAHostThatIsDown() async throws {
        let sent = Locked(0)
        let provider = TestConnector { _ in
            sent.withLock { $0 += 1 }
            return .status(503)
        }.retrying(RetryPolicy(random: { 0 }))
        for _ in 0..<1_000 { _ = await provider.result(for: request()) }
        #expect(sent.withLock { $0 } <= 1_220)
        #expect(sent.withLock { $0 } >= 1_200)
    }

    @Test func aTokenSourceOfThePolicyReplacesTheBudget() async throws {
        final class Tokens: RetryTokenSource {
            let count = Locked(3)
            let earnedCount = Locked(0)

            func earn(by request: ApiRequest) { earnedCount.withLock { $0 += 1 } }

            func take(for request: ApiRequest) async -> Bool {
                await Task.yield()
                return count.withLock { count in
                    count -= 1
                    return count >= 0
                }
            }
        }
        let tokens = Tokens()
        var policy = RetryPolicy(maximumAttemptCount: 100, budget: RetryBudget(burstCount: 0), random: { 0 })
        policy.tokens = tokens
        let provider = TestConnector { _ in .status(503) }.retrying(policy)
        let response = try await provider.response(for: request())
        #expect(response.request.earlierAttempts.count == 3)
        #expect(response.request.history?.stop == .budget)
        #expect(tokens.earnedCount.withLock { $0 } == 1)
    }

    /// Copies of a provider are one client to a host.
    @Test func copiesShareIt() async throws {
        let provider = TestConnector { _ in .status(503) }
            .retrying(RetryPolicy(budget: RetryBudget(burstCount: 1, share: 0, countPerSecond: 0), random: { 0 }))
        let copy = provider
        #expect(try await provider.response(for: request()).request.earlierAttempts.count == 1)
        #expect(try await copy.response(for: request()).request.earlierAttempts.count == 0)
    }
}
