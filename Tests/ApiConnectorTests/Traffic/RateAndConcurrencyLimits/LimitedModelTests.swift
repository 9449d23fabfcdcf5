// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// The limiting provider over random interleavings of calls, answers, streams, failures, cancels and steps of the
/// clock.
@Suite(.timeLimit(.minutes(10))) struct LimitedModelTests {}

extension LimitedModelTests {
    @Test func everyCallIsAnsweredAndNoSlotIsLost() async {
        await SplitMix64.runs(max(SplitMix64.caseCount / 10, 1)) { random in try await interleave(&random) }
    }

    private func interleave(_ random: inout SplitMix64) async throws {
        let clock = ManualClock()
        let timers = TimerQueue.on(clock)
        let server = HeldServer()
        let count = Int.random(in: 1...3, using: &random)
        let rate = RequestRate(Int.random(in: 1...5, using: &random), per: .seconds(1), burstCount: count)
        let hasRate = Bool.random(using: &random)
        let provider = Limited(server, RequestLimit(concurrent: .fixed(count), rate: hasRate ? rate : nil))
        var calls: [(task: Task<ApiConnectorError.Kind?, Never>, hasDeadline: Bool)] = []
        var canceled: Set<Int> = []

        for _ in 0..<Int.random(in: 5...30, using: &random) {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                let request = ApiRequest.made(
                    Bool.random(using: &random) ? "one.example.com" : "two.example.com",
                    streamed: Bool.random(using: &random),
                    priority: CallPriority.allCases.randomElement(using: &random) ?? .normal,
                    deadline: Int.random(in: 0..<4, using: &random) == 0 ? clock.now + .seconds(3) : nil,
                    on: timers
                )
                let reads = Bool.random(using: &random)
                let task = Task {
                    do throws(ApiConnectorError) {
                        let response = try await provider.attempt(request, within: .unlimited)
                        // The others released it unread.
                        if reads { _ = try await response.body.collect(upTo: 100) }
                        return nil as ApiConnectorError.Kind?
                    } catch {
                        return error.kind
                    }
                }
                calls.append((task, request.deadline != nil))
            case 4, 5:
                guard let number = server.held.randomElement(using: &random) else { continue }
                let answers: [HeldServer.Answer] = [
                    .status(200), .stream, .stream, .failure(.connectionLost), .status(429, ["Retry-After": "2"]),
                    .status(200, ["RateLimit": "\"default\";r=1;t=3"]),
                ]
                server.answer(number, answers.randomElement(using: &random) ?? .stream)
            case 6:
                guard let number = server.open.randomElement(using: &random) else { continue }
                if server.held.contains(number) { continue }
                server.endBody(number, failing: Bool.random(using: &random) ? .connectionLost : nil)
            case 7:
                guard let number = calls.indices.randomElement(using: &random) else { continue }
                canceled.insert(number)
                calls[number].task.cancel()
            default:
                clock.advance(by: .milliseconds(Int.random(in: 0...1500, using: &random)))
            }
            for _ in 0..<Int.random(in: 0..<4, using: &random) { await Task.yield() }
        }
        // From here on the server is well and time goes on: every task that still waits has to end.
        server.calmDown()
        let mover = Task {
            while !Task.isCancelled {
                clock.advance(by: .milliseconds(500))
                await Task.yield()
            }
        }
        var kinds: [ApiConnectorError.Kind?] = []
        for call in calls { kinds.append(await call.task.value) }
        mover.cancel()
        await mover.value

        try #require(server.mostOpen.values.allSatisfy { $0 <= count })
        try #require(server.open.isEmpty)
        for (number, kind) in kinds.enumerated() {
            switch kind {
            case nil, .connectionLost: break
            case .cancelled: try #require(canceled.contains(number))
            case .deadlineExceeded: try #require(calls[number].hasDeadline)
            default: try #require(Bool(false), "call \(number) failed with \(kind?.rawValue ?? "")")
            }
        }
        // No place is lost: each host takes as many again as it may.
        clock.advance(by: .seconds(100))
        try #require(provider.waiterCount == 0)
        try await timers.becomesEmpty()
        for host in ["one.example.com", "two.example.com"] {
            _ = try await provider.response(for: .made(host, on: timers))
        }
        clock.advance(by: .seconds(100))
        _ = try await provider.response(for: .made("one.example.com", on: timers))
        clock.advance(by: .seconds(100))
        _ = try await provider.response(for: .made("two.example.com", on: timers))
        try #require(provider.inFlightCount == 0)
    }
}
