// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

struct RetryDefaultTests {
    @Test func theDefaultsAreTheDocumentedOnes() {
        let policy = RetryPolicy.standard
        #expect(policy.maximumAttemptCount == 4)
        #expect(policy.maximumDuration == .seconds(120))
        #expect(policy.initialDelay == .milliseconds(500))
        #expect(policy.maximumDelay == .seconds(30))
        #expect(policy.maximumRetryAfter == .seconds(60))
        #expect(policy.idempotencyKey == nil)
    }

    @Test func theDefaultsForStreamsAreTheDocumentedOnes() {
        let policy = RetryPolicy.resumption
        #expect(policy.maximumAttemptCount == 8)
        #expect(policy.maximumDuration == .seconds(300))
        #expect(policy.initialDelay == .seconds(1))
        #expect(policy.maximumDelay == .seconds(60))
    }
}
