// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// A refresh that sends its requests over the very chain of providers that waits for it.
@Suite(.timeLimit(.minutes(10))) struct RefreshOverOwnChainTests {
    private let server = TokenServer()

    private let policy = RetryPolicy.halfWay {
        $0.idempotencyKey = RetryPolicy.randomKey
        $0.budget = .unlimited
    }
}

extension RefreshOverOwnChainTests {
    /// A connection that its own credentials use.
    private final class OwnConnection: Sendable {
        private let box = Locked<NetworkConnector<AnyProvider, Router>?>(nil)

        func set(_ api: NetworkConnector<AnyProvider, Router>?) {
            box.withLock { $0 = api }
        }

        /// Throws at the end of the test: a refresh may begin after all its calls were canceled.
        func callAsFunction() throws -> NetworkConnector<AnyProvider, Router> {
            guard let api = box.withLock({ $0 }) else { throw CancellationError() }
            return api
        }
    }

    @Test func isNotRetriedByTheConnection() async throws {
        server.expire()
        let clock = ManualClock()
        let sent = EventLog<String>()
        let provider = TestConnector { [server] request in
            guard request.url.path() == "/auth" else { return server.answer(request) }
            sent.note(request.headers[.idempotencyKey] ?? "without a key")
            return .status(503)
        }
        let own = OwnConnection()
        let session = RefreshableCredentials(.bearer("t1"), timeSource: clock) { [server] _ in
            try await own().send(at: .auth)
            return .bearer(server.refresh())
        }
        let api = provider.standard(policy, authenticatedBy: session).connected(.unlimited, on: clock)
        own.set(api)
        let (result, waits) = try await clock.moving(for: { $0 < .seconds(20) }) {
            await Result { () async throws(ApiConnectorError) in try await api.data(at: .me) }
        }
        let error = try #require(throws: ApiConnectorError.self) { try result.get() }
        #expect(error.kind == .credentialsUnavailable)
        #expect(sent.events == ["without a key"])
        #expect(waits == [])
        own.set(nil)
    }

    @Test func aCallThatOutlivesTheRefreshIsAnOrdinaryCall() async throws {
        server.expire()
        let clock = ManualClock()
        let own = OwnConnection()
        let gate = Gate("the end of the refresh")
        let late = Locked<Task<Data, any Error>?>(nil)
        let session = RefreshableCredentials(.bearer("t1"), timeSource: clock) { [server] _ in
            let task = Task {
                try await gate.opened()
                return try await own().data(at: .me)
            }
            late.withLock { $0 = task }
            return .bearer(server.refresh())
        }
        let api = server.provider.standard(policy, authenticatedBy: session).connected(on: clock)
        own.set(api)
        try await api.send(at: .me)
        gate.open()
        #expect(try await late.withLock { $0 }?.value.count == 7)
        #expect(server.seen == ["t1", "t2", "t2"])
        own.set(nil)
    }

    @Test func neverWaitsForItself() async throws {
        var random = SplitMix64.printed()
        for run in 0..<max(SplitMix64.caseCount / 20, 1) {
            try await interleave(using: &random, run)
        }
    }

    /// Calls of which any may start the refresh, answers of every kind to them and to it, and cancels.
    private func interleave(using random: inout SplitMix64, _ run: Int) async throws {
        let clock = ManualClock()
        let chance = Locked(SplitMix64(seed: random.next()))
        let pick: @Sendable (Range<Int>) -> Int = { range in chance.withLock { Int.random(in: range, using: &$0) } }
        let problems = Locked<[String]>([])
        let runningCount = Locked(0)
        let provider = TestConnector { request in
            for _ in 0..<pick(0..<4) { await Task.yield() }
            let isRefresh = request.url.path() == "/auth"
            if isRefresh == request.headers.contains(.authorization) {
                problems.withLock { $0.append("\(request) with \(request.headers)") }
            }
            return switch pick(0..<8) {
            case 0, 1: .status(401)
            case 2: .status(503)
            case 3: .failing(.connectionLost)
            default: .fine
            }
        }
        let own = OwnConnection()
        let session = RefreshableCredentials(limit: RefreshableCredentials.Limit(.max), timeSource: clock) { _ in
            if runningCount.withLock({ count in
                count += 1
                return count > 1
            }) {
                problems.withLock { $0.append("two refreshes at a time") }
            }
            defer { runningCount.withLock { $0 -= 1 } }
            try await own().send(at: .auth)
            return .bearer("t")
        }
        let api = provider.standard(policy, authenticatedBy: session).connected(.unlimited, on: clock)
        own.set(api)
        let count = pick(1..<12)
        let (endedCount, _) = try await clock.moving(for: { $0 < .seconds(20) }) {
            await withTaskGroup(of: Void.self, returning: Int.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        let call = Task { try await api.send(at: .me) }
                        for _ in 0..<pick(0..<12) { await Task.yield() }
                        if pick(0..<4) == 0 { call.cancel() }
                        _ = await call.result
                    }
                }
                return await group.reduce(0) { ended, _ in ended + 1 }
            }
        }
        own.set(nil)
        #expect(endedCount == count, "run \(run)")
        #expect(problems.withLock { $0 } == [], "run \(run)")
    }
}
