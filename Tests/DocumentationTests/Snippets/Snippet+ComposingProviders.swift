// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import ApiConnectorTraffic
import Testing

enum ComposingProviders {
    private static let session = RefreshableCredentials(.bearer("t")) { _ in .bearer("t2") }
    private static let log = CallLog { _, _ in }

    private struct Signer: RequestSigner {
        func sign(_ request: inout ApiRequest) async throws(ApiConnectorError) { request.headers["X-Signature"] = "s" }
    }

    @Test static func wrapsByHand() {
        let provider = SystemProvider()
            .retrying()
            .authenticating(by: session)
            .observing(by: log)
        let api = NetworkConnector(environment: .production, provider: provider, router: Blog.self)
        _ = api
    }

    @Test static func wrapsInTheRecommendedOrder() {
        let provider = SystemProvider().standard(authenticatedBy: session, observedBy: log)
        _ = provider
    }

    @Test static func putsACacheIntoTheStandard() {
        let provider = SystemProvider()
            .standard(cachedIn: MemoryCacheStorage())
            .authenticating(by: session)
            .observing(by: log)
        _ = provider
    }

    @Test static func putsMoreIntoTheStandard() {
        let provider = SystemProvider()
            .circuitBreaking()
            .limiting(RequestLimit(concurrent: 6))
            .hedging()
            .standard(authenticatedBy: session, observedBy: log)
        _ = provider
    }

    @Test static func signsEachAttempt() {
        let signer = Signer()
        let provider = SystemProvider().authenticating(by: .fixed(.signature(by: signer))).retrying()
        _ = provider
    }

    @Test static func limitsAttemptAndTotal() {
        let provider = SystemProvider()
            .timeLimiting(attempt: .seconds(5))
            .retrying()
            .timeLimiting(overall: .seconds(20))
        _ = provider
    }

    @Test static func repeatsAPost() {
        let policy = RetryPolicy(maximumAttemptCount: 6, idempotencyKey: RetryPolicy.randomKey)
        let provider = SystemProvider().retrying(policy)
        _ = provider
    }

    static func retriesAfterRateLimits() {
        let policy = RetryPolicy(
            initialDelay: .milliseconds(500),
            throttlingDelay: .seconds(5),
            maximumRetryAfter: .seconds(120)
        )
        let provider = SystemProvider().retrying(policy)
        _ = provider
    }
}
