// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector
package import ApiConnectorTraffic
package import Backends
import Synchronization

/// The tokens of a stock's session.
private struct StockTokens: Codable, Sendable {
    let access: String
}

/// Counts the requests that all instances send.
private final class SharedCount: Sendable {
    private let times = Mutex<[ContinuousClock.Instant]>([])

    var count: Int { times.withLock { $0.count } }

    /// The largest number of requests within a second.
    var mostInASecond: Int {
        let sorted = times.withLock { $0.sorted() }
        return sorted.map { start in sorted.count { $0 >= start && $0 < start + .seconds(1) } }.max() ?? 0
    }

    func add() {
        times.withLock { $0.append(.now) }
    }
}

/// A provider that counts each request.
private struct Counting<Wrapped: DataRequestType>: DataRequestType {
    let wrapped: Wrapped
    let count: SharedCount

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        count.add()
        return try await wrapped.response(for: request)
    }
}

/// An overloaded server, which also counts its requests.
private struct Overloaded: DataRequestType {
    let count: SharedCount

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        count.add()
        return ApiResponse(to: request, status: 503)
    }
}

extension Walk {
    /// Runs four instances with one rate limit, one retry budget and one session, first without shared state and then
    /// with it.
    ///
    /// - Parameters:
    ///   - transport: The transport that sends the requests.
    ///   - environment: A stock without faults.
    ///   - state: Opens the shared state, as each instance does.
    package func fleet(
        over transport: some DataRequestType,
        at environment: BackendEnvironment,
        sharing state: @escaping @Sendable () throws -> any SharedState
    ) async {
        begin("Four instances with one rate limit", at: environment)
        for isShared in [false, true] {
            await step {
                try await limited(over: transport, environment, isShared ? state : nil)
            } check: { tally, most, time in
                try expect(tally.succeededCount, is: 40, "the number of calls that succeeded")
                // After a burst of 5, one call starts every 50 ms.
                if isShared { try expect(time >= .milliseconds(1740), is: true, "whether the rate was kept") }
                return "a limit of 20 a second, \(sharing(isShared)): the server got \(most) within a second"
            }
        }
        begin("Four instances with one budget of 10 retries, and an overloaded server", at: environment)
        for isShared in [false, true] {
            await step {
                try await retried(environment, isShared ? state : nil)
            } check: { count in
                try expect(count, is: isShared ? 50 : 80, "the number of requests")
                return "40 calls, \(sharing(isShared)): the server got \(count) requests"
            }
        }
        begin("Four instances with one session", at: environment)
        for isShared in [false, true] {
            await step {
                try await refreshed(over: transport, environment, isShared ? state : nil)
            } check: { count in
                try expect(isShared ? count == 1 : count >= 4, is: true, "whether \(count) refreshes are right")
                return "an expired token, \(sharing(isShared)): \(count) \(count == 1 ? "refresh" : "refreshes")"
            }
        }
    }

    private func sharing(_ isShared: Bool) -> String { isShared ? "with shared state" : "without shared state" }

    /// - Returns: The results of the calls, the largest number of requests within a second, and the duration of all
    ///   calls.
    private func limited(
        over transport: some DataRequestType,
        _ environment: BackendEnvironment,
        _ state: (@Sendable () throws -> any SharedState)?
    ) async throws -> (Tally, Int, Duration) {
        let sent = SharedCount()
        let limit = RequestLimit(rate: RequestRate(20, per: .seconds(1), burstCount: 5))
        let start = ContinuousClock.now
        let tally = try await withThrowingTaskGroup(of: Tally.self) { group in
            for _ in 0..<4 {
                let counted = Counting(wrapped: transport, count: sent)
                let policy = SharedLimitPolicy(batchCount: 5, instanceCount: 4)
                let limited =
                    if let state {
                        AnyProvider(
                            counted.limiting(
                                limit,
                                sharedAs: SharedLimit(named: "stock", in: try state(), policy: policy)
                            )
                        )
                    } else {
                        AnyProvider(counted.limiting(limit))
                    }
                let stock = NetworkConnector(
                    environment: environment,
                    provider: limited,
                    router: StockRouter.self,
                    configuration: ConnectionConfiguration(headers: [.authorization: "Bearer token-1"])
                )
                group.addTask { await stock.tally(of: 10) }
            }
            return try await group.reduce(into: Tally()) { sum, tally in
                sum.succeededCount += tally.succeededCount
                sum.failures.merge(tally.failures, uniquingKeysWith: +)
            }
        }
        return (tally, sent.mostInASecond, ContinuousClock.now - start)
    }

    /// - Returns: The number of requests that the instances have sent.
    private func retried(
        _ environment: BackendEnvironment,
        _ state: (@Sendable () throws -> any SharedState)?
    ) async throws -> Int {
        let sent = SharedCount()
        let policy = RetryPolicy(
            maximumAttemptCount: 100,
            budget: RetryBudget(burstCount: 10, share: 0, countPerSecond: 0.001),
            random: { 0 }
        )
        for _ in 0..<4 {
            let server = Overloaded(count: sent)
            let retrying =
                if let state {
                    AnyProvider(
                        server.retrying(
                            policy,
                            sharedAs: SharedLimit(
                                named: "retries",
                                in: try state(),
                                policy: SharedLimitPolicy(instanceCount: 4)
                            )
                        )
                    )
                } else {
                    AnyProvider(server.retrying(policy))
                }
            let stock = NetworkConnector(environment: environment, provider: retrying, router: StockRouter.self)
            _ = await stock.tally(of: 10)
        }
        return sent.count
    }

    /// - Returns: How often the instances have refreshed the token.
    private func refreshed(
        over transport: some DataRequestType,
        _ environment: BackendEnvironment,
        _ state: (@Sendable () throws -> any SharedState)?
    ) async throws -> Int {
        let refreshes = SharedCount()
        let accounts = NetworkConnector(environment: environment, provider: transport, router: StockRouter.self)
        let expired = StockTokens(access: "token-0")
        @Sendable func newTokens() async throws -> StockTokens {
            refreshes.add()
            return StockTokens(access: try await accounts.value(StockToken.self, at: .newToken).token)
        }
        func session() throws -> SharedSession<StockTokens>? {
            // A real program encrypts its tokens, or keeps them in the keychain.
            try state.map { SharedSession(named: "stock", in: try $0(), storage: .sealed(by: { $0 }, opened: { $0 })) }
        }
        try await session()?.signIn(expired)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                let credentials: RefreshableCredentials
                if let shared = try session() {
                    credentials = RefreshableCredentials(sharing: shared) { tokens in
                        .bearer(tokens.access)
                    } refreshing: { _ in
                        try await newTokens()
                    }
                } else {
                    credentials = RefreshableCredentials(.bearer(expired.access)) { _ in
                        .bearer(try await newTokens().access)
                    }
                }
                let stock = NetworkConnector(
                    environment: environment,
                    provider: transport.authenticating(by: credentials),
                    router: StockRouter.self
                )
                // Without shared state, the refresh of one instance invalidates the token of another instance.
                group.addTask { _ = await stock.tally(of: 1) }
            }
            try await group.waitForAll()
        }
        return refreshes.count
    }
}
