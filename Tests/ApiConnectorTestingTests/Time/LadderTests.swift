// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// Everything in ApiConnector that waits runs on one manual clock.
@Suite(.timeLimit(.minutes(15))) struct LadderTests {
    /// Retries, a server's wish, limits of time and a slow answer: ten minutes, and nobody sleeps.
    @Test func tenMinutesOfRetriesTakeNoTime() async throws {
        let clock = ManualClock()
        let start = ContinuousClock.now
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1))
            .answer(.status(503), times: 8)
            .answer(.status(429, headers: ["Retry-After": "200"]))
            .answer(.json(Tea.green).after(.seconds(5), on: clock))
        let policy = RetryPolicy(
            maximumAttemptCount: 10,
            maximumDuration: nil,
            initialDelay: .seconds(4),
            maximumDelay: .seconds(300),
            maximumRetryAfter: .seconds(300),
            random: { 0.5 }
        )
        let provider = TestConnector(script).retrying(policy).timeLimited(total: .seconds(3_600))
        let shop = NetworkConnector(
            environment: .test,
            provider: provider,
            router: Shop.self,
            configuration: ConnectionConfiguration(timeouts: .unlimited, timeSource: clock)
        )

        let call = Task { try await shop.value(Tea.self, at: .tea(id: 1)) }
        for seconds in [2, 4, 8, 16, 32, 64, 128, 150, 350, 5] {
            // The limit of time sleeps, too.
            while try await clock.nextSleep() != .seconds(seconds) {}
            clock.advance(by: .seconds(seconds))
        }
        #expect(try await call.value == .green)
        #expect(clock.now == .seconds(759))
        // A machine may be busy with other tests; the ladder itself would take longer than twelve minutes.
        #expect(ContinuousClock.now - start < .seconds(300))
        #expect(await script.end().isEmpty)
    }
}
