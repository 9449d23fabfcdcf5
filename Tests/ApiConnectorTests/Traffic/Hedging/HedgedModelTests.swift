// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// The hedging provider over random interleavings of calls, answers, failures, cancels and steps of the clock.
@Suite(.timeLimit(.minutes(10))) struct HedgedModelTests {}

extension HedgedModelTests {
    @Test func invariantsHoldInEveryInterleaving() async {
        await SplitMix64.runs(max(SplitMix64.caseCount / 10, 1)) { random in try await interleave(&random) }
    }

    private struct Call: Sendable {
        let request: ApiRequest
        let task: Task<ApiConnectorError.Kind?, Never>
        var mayBeSentTwice: Bool { request.isRepeatable && request.body.isReplayable }
    }

    private func interleave(_ random: inout SplitMix64) async throws {
        let clock = ManualClock()
        let timers = TimerQueue.on(clock)
        let server = HeldServer()
        let budget = RetryBudget(burstCount: Int.random(in: 0...2, using: &random), share: 0.5, countPerSecond: 0)
        let provider = server.hedging(HedgePolicy(percentile: nil, delay: .seconds(1), budget: budget))
        var calls: [Call] = []
        var canceled: Set<Int> = []
        for _ in 0..<Int.random(in: 5...25, using: &random) {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<3:
                let number = calls.count
                let methods: [HTTPMethod] = [.get, .put, .post]
                let once = RequestBody.stream(isReplayable: false) { AsyncStream<Data> { $0.finish() } }
                var request = ApiRequest.made(
                    "one.example.com",
                    methods.randomElement(using: &random) ?? .get,
                    path: "/\(number)",
                    body: Int.random(in: 0..<4, using: &random) == 0 ? once : .empty,
                    streamed: Bool.random(using: &random),
                    on: timers
                )
                if Int.random(in: 0..<3, using: &random) == 0 { request.headers[.idempotencyKey] = "key" }
                let task = Task { [request] in
                    do throws(ApiConnectorError) {
                        let response = try await provider.attempt(request, within: .unlimited)
                        _ = try await response.body.collect(upTo: 100)
                        return nil as ApiConnectorError.Kind?
                    } catch {
                        return error.kind
                    }
                }
                calls.append(Call(request: request, task: task))
            case 3..<6:
                guard let number = server.held.randomElement(using: &random) else { continue }
                let answers: [HeldServer.Answer] = [.status(200), .status(503), .failure(.connectionLost), .stream]
                server.answer(number, answers.randomElement(using: &random) ?? .stream)
            case 6:
                guard let number = server.open.randomElement(using: &random), !server.held.contains(number) else {
                    continue
                }
                server.endBody(number)
            case 7:
                guard let number = calls.indices.randomElement(using: &random) else { continue }
                canceled.insert(number)
                calls[number].task.cancel()
            default:
                clock.advance(by: .milliseconds(Int.random(in: 0...1200, using: &random)))
            }
            for _ in 0..<Int.random(in: 0..<4, using: &random) { await Task.yield() }
        }
        server.calmDown()
        for (number, call) in calls.enumerated() {
            let kind = await call.task.value
            try #require(kind != .cancelled || canceled.contains(number), "call \(number) failed by another's cancel")
        }
        // The losing requests have ended, too.
        try #require(server.open.isEmpty)
        try await timers.becomesEmpty()
        try #require(clock.sleeperCount == 0)
        let sent = server.requests.map { $0.url.lastPathComponent }
        var hedgeCount = 0
        for (number, call) in calls.enumerated() {
            let count = sent.count { $0 == "\(number)" }
            try #require(count <= (call.mayBeSentTwice ? 2 : 1), "\(call.request) was sent \(count) times")
            hedgeCount += max(count - 1, 0)
        }
        let eligibleCount = calls.count { $0.mayBeSentTwice }
        try #require(Double(hedgeCount) <= Double(budget.burstCount) + budget.share * Double(eligibleCount))
    }
}
