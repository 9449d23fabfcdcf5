// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorFleet
import ApiConnectorTesting
import ApiConnectorTraffic
import Crypto
import Foundation
import Servers
import Synchronization
import Testing

/// Tests of providers that share their state in a real Redis.
@Suite(.enabled(if: Redis.isInstalled), .serialized, .timeLimit(.minutes(10)))
struct RedisSharingTests {
    private let redis: Redis
    private let state: RedisSharedState
    private let limit = Duration.seconds(600)

    init() throws {
        redis = try Redis()
        let url = "redis://:\(Redis.password)@127.0.0.1:\(redis.port)/1"
        state = RedisSharedState(try RedisServer(url: url))
    }

    @Test func twoInstancesShareACache() async throws {
        let encryption = SymmetricKey(size: .bits256)
        func storage(_ key: SymmetricKey) -> SharedCacheStorage {
            SharedCacheStorage(named: "products", in: state, encryptedWith: key)
        }
        let first = storage(encryption)
        let server = TestConnector { _ in
            .data(Data("a secret".utf8), headers: ["Cache-Control": "private, max-age=600"])
        }
        let url = try #require(URL(string: "http://one.example.com/"))
        func hit(_ storage: SharedCacheStorage) async throws -> CacheHit? {
            try await server.caching(in: storage).response(for: ApiRequest(url: url)).cacheHit
        }
        #expect(try await hit(first) == nil)
        while try redis.keys.isEmpty {}
        while try await hit(storage(encryption)) != .fresh {}
        #expect(try await hit(storage(SymmetricKey(size: .bits256))) == nil)
        for name in try redis.run("-n 1 --raw keys '*'").split(separator: "\n") where name.hasSuffix("d") {
            #expect(try !redis.run("-n 1 --raw get '\(name)'").contains("secret"))
        }
    }

    @Test func instancesShareCircuitsAndRetries() async throws {
        let shared = SharedCircuits(named: "a", in: state, operationLimit: limit)
        let policy = CircuitPolicy(minimumCount: 2, openDuration: .seconds(600))
        let server = TestConnector { _ in .status(503) }
        let request = ApiRequest(url: try #require(URL(string: "http://one.example.com/")))
        let one = server.circuitBreaking(policy, sharedAs: shared)
        for _ in 0..<2 { _ = try await one.response(for: request) }
        while try redis.keys.isEmpty {}
        let other = server.circuitBreaking(
            CircuitPolicy(minimumCount: .max, openDuration: .seconds(600)),
            sharedAs: shared
        )
        var error: ApiConnectorError?
        while error == nil {
            do throws(ApiConnectorError) { _ = try await other.response(for: request) } catch let known {
                error = known
            }
        }
        #expect(error?.kind == .circuitOpen)

        let budget = RetryBudget(burstCount: 10, share: 0, countPerSecond: 0)
        let retries = RetryPolicy(maximumAttemptCount: 100, budget: budget, random: { 0 })
        let limit = SharedLimit(named: "r", in: state, policy: SharedLimitPolicy(operationLimit: limit))
        var count = 0
        for _ in 0..<3 {
            let response = try await server.retrying(retries, sharedAs: limit).response(for: request)
            count += response.request.earlierAttempts.count
        }
        #expect(count == 10)
    }

    @Test func twoInstancesTakeTheSamePlaces() async throws {
        let policy = SharedLimitPolicy(operationLimit: limit, refreshInterval: .milliseconds(100))
        let count = OpenCount()
        func instance() -> some DataRequestType {
            OpenCount.Server(count: count).limiting(
                RequestLimit(concurrent: 5),
                sharedAs: SharedLimit(named: "a", in: state, policy: policy)
            )
        }
        let request = ApiRequest(url: try #require(URL(string: "http://one.example.com/")))
        let instances = [instance(), instance(), instance()]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                group.addTask { _ = try await instances[number % 3].response(for: request) }
            }
            try await group.waitForAll()
        }
        #expect(count.values.total == 300)
        #expect(count.values.most <= 5)
    }
}

/// Counts the requests that are open at the same time.
private final class OpenCount: Sendable {
    struct Server: DataRequestType {
        let count: OpenCount

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            count.state.withLock { state in
                state.open += 1
                state.total += 1
                state.most = max(state.most, state.open)
            }
            for _ in 0..<10 { await Task.yield() }
            count.state.withLock { $0.open -= 1 }
            return ApiResponse(to: request, status: 200)
        }
    }

    private let state = Mutex((open: 0, total: 0, most: 0))

    var values: (open: Int, total: Int, most: Int) { state.withLock { $0 } }
}
