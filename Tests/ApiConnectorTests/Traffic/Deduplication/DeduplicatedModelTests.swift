// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// `deduplicated` over random interleavings of calls, answers, failures, cancels and steps of the clock.
@Suite(.timeLimit(.minutes(10))) struct DeduplicatedModelTests {}

extension DeduplicatedModelTests {
    @Test func everyCallIsAnsweredOnceWithAResponseToAnIdenticalCall() async throws {
        await SplitMix64.runs(max(SplitMix64.caseCount / 10, 1)) { random in try await interleave(using: &random) }
    }

    private struct Call {
        let subject: String
        let task: Task<(String, Int?), Never>
    }

    private func interleave(using random: inout SplitMix64) async throws {
        let clock = ManualClock()
        let queue = TimerQueue.on(clock)
        let server = HeldServer()
        let provider = Deduplicated(server)
        var calls: [Call] = []
        for _ in 0..<Int.random(in: 5...30, using: &random) {
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<5:
                var request = ApiRequest(
                    url: try #require(URL(string: "http://h/\(Int.random(in: 0..<2, using: &random))"))
                )
                let user = Int.random(in: 0..<3, using: &random)
                if user > 0 { request.headers[.authorization] = "Bearer \(user)" }
                request.timers = queue
                if Bool.random(using: &random) {
                    request.deadline = clock.now + .seconds(Int.random(in: 1...20, using: &random))
                }
                let task = Task { [request] in
                    do throws(ApiConnectorError) {
                        let response = try await provider.attempt(request, within: .unlimited)
                        let text = String(decoding: try await response.body.collect(upTo: 1000), as: UTF8.self)
                        return (text, response.headers[HeldServer.numberField].flatMap { Int($0) })
                    } catch {
                        return (error.kind.rawValue, nil)
                    }
                }
                calls.append(Call(subject: request.subject, task: task))
            case 5..<8:
                if let number = server.held.randomElement(using: &random) { server.answer(number) }
            case 8:
                if let number = server.held.randomElement(using: &random) {
                    server.answer(number, .failure(.connectionLost))
                }
            case 9..<11:
                calls.randomElement(using: &random)?.task.cancel()
            default:
                clock.advance(by: .seconds(Int.random(in: 1...12, using: &random)))
            }
            for _ in 0..<Int.random(in: 0..<4, using: &random) { await Task.yield() }
        }
        if Bool.random(using: &random) {
            // No call waits anymore, so all held responses are released.
            for call in calls { call.task.cancel() }
            for call in calls { _ = await call.task.value }
            await eventually { server.held.isEmpty }
        }
        server.calmDown()
        var numbers: Set<Int> = []
        for call in calls {
            let (answer, number) = await call.task.value
            if let number { numbers.insert(number) }
            let isOwn = [call.subject, "cancelled", "deadlineExceeded", "connectionLost"].contains(answer)
            #expect(isOwn, "\(call.subject) was answered \(answer)")
        }
        #expect(provider.calls.count == 0)
        // A request that all calls have left may still be running when the next one is sent, but answers no call.
        #expect(server.overlaps.filter { numbers.contains($0.0) && numbers.contains($0.1) }.isEmpty)
    }
}
