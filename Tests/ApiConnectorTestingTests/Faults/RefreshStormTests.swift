// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

@testable import ApiConnectorTesting

/// Calls at once whose token has run out, while two of five requests break.
@Suite(.timeLimit(.minutes(10))) struct RefreshStormTests {}

extension RefreshStormTests {
    private struct Storm {
        var outcomes: [Result<Tea, any Error>] = []
        /// The number of refreshes that started, and of those that the server completed.
        var begun = 0
        var done = 0
    }

    private static let seeds: [UInt64] = Array(0..<20)

    private func storm(_ seed: UInt64, breakingRefreshes: Bool) async throws -> Storm {
        let faults = Fault.transient + (0..<8).map { Fault(.truncated, at: .byte($0)) }
        let run = FaultRun(.percent(40, seed: seed, of: faults))
        let counts = Locked((begun: 0, done: 0))
        let tokens = TestConnector { _ in
            .json(["token": "new\(counts.withLock { counts in counts.done += 1; return counts.done })"])
        }
        let configuration = ConnectionConfiguration(timeSource: run.timeSource)
        let accounts = NetworkConnector(
            environment: ShopServer.test,
            provider: breakingRefreshes ? AnyProvider(tokens.injecting(run)) : AnyProvider(tokens),
            router: Shop.self,
            configuration: configuration
        )
        // A fault may take as long as a refresh by default may, and there can be several.
        let session = RefreshableCredentials(
            .bearer("old"),
            timeLimit: .seconds(3_600),
            timeSource: run.timeSource
        ) { _ in
            counts.withLock { $0.begun += 1 }
            return .bearer(try await accounts.value([String: String].self, at: .teas(page: 9))["token"] ?? "")
        }
        let policy = RetryPolicy(maximumAttemptCount: 20, maximumDuration: nil, budget: .unlimited)
        let teas = TestConnector { request in
            request.headers[.authorization]?.hasPrefix("Bearer new") == true ? .json(Tea.green) : .status(401)
        }
        let shop = NetworkConnector(
            environment: ShopServer.test,
            provider: teas.injecting(run).standard(policy, authenticatedBy: session),
            router: Shop.self,
            configuration: configuration
        )
        var storm = Storm()
        await withTaskGroup(of: Result<Tea, any Error>.self) { group in
            for id in 1...20 {
                group.addTask {
                    do {
                        return .success(try await shop.value(Tea.self, at: .tea(id: id)))
                    } catch {
                        return .failure(error)
                    }
                }
            }
            for await outcome in group { storm.outcomes.append(outcome) }
        }
        (storm.begun, storm.done) = counts.withLock { $0 }
        return storm
    }

    @Test func concurrentCallsShareOneRefreshAndAllAreAnswered() async throws {
        for seed in Self.seeds {
            let storm = try await storm(seed, breakingRefreshes: false)
            #expect(storm.outcomes.allSatisfy { (try? $0.get()) == .green }, "seed \(seed)")
            #expect(storm.outcomes.count == 20 && storm.begun == 1 && storm.done == 1, "seed \(seed)")
        }
    }

    /// A server may take a refresh token that comes twice for a stolen one.
    @Test func aFailedRefreshIsNotRetriedAndFailsItsCalls() async throws {
        var brokenCount = 0
        for seed in Self.seeds {
            let storm = try await storm(seed, breakingRefreshes: true)
            var failureCount = 0
            for outcome in storm.outcomes {
                do {
                    #expect(try outcome.get() == .green)
                } catch let error as ApiConnectorError {
                    failureCount += 1
                    #expect(error.kind == .credentialsUnavailable, "seed \(seed): \(error)")
                }
            }
            // Where an answer is lost, the server has done it all the same.
            #expect(storm.outcomes.count == 20 && storm.done <= storm.begun, "seed \(seed)")
            brokenCount += failureCount > 0 ? 1 : 0
        }
        #expect(brokenCount > 0 && brokenCount < Self.seeds.count)
    }
}
