// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct GateTests {}

extension GateTests {
    @Test func letsThreadsAndTasksThroughOnceItIsOpen() async throws {
        let gate = Gate()
        let passed = Gate()
        Thread.detachNewThread {
            do {
                try gate.wait()
                passed.open()
            } catch {
                Issue.record(error)
            }
        }
        #expect(!gate.isOpen)
        #expect(!passed.isOpen)
        async let first: Void = gate.opened()
        async let second: Void = gate.opened()
        gate.open()
        try await first
        try await second
        try await passed.opened()
        #expect(gate.isOpen)
        try await gate.opened()
    }

    @Test func aWaitOfATaskTimesOut() async {
        let gate = Gate("door", guardedFor: .milliseconds(1))
        let error = await #expect(throws: LoopbackError.self) { try await gate.opened() }
        #expect(error == .timedOut("The door was not opened within 0.001 seconds"))
        #expect(error?.description == "The door was not opened within 0.001 seconds.")
    }

    @Test func aWaitOfAThreadTimesOut() {
        let gate = Gate("door", guardedFor: .milliseconds(1))
        let error = #expect(throws: LoopbackError.self) { try gate.wait() }
        #expect(error == .timedOut("The door was not opened within 0.001 seconds"))
    }

    @Test func aCancelEndsAWait() async {
        let gate = Gate()
        let early = Task { try await gate.opened() }
        early.cancel()
        await #expect(throws: CancellationError.self) { try await early.value }

        let entered = Gate()
        let late = Task {
            entered.open()
            try await gate.opened()
        }
        await #expect(throws: Never.self) { try await entered.opened() }
        late.cancel()
        await #expect(throws: CancellationError.self) { try await late.value }
    }

    @Test func resumesExactlyOnceWhenOpeningAndCancelingRace() async {
        let answers = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    let gate = Gate()
                    let waiting = Task { try await gate.opened() }
                    Thread.detachNewThread { gate.open() }
                    waiting.cancel()
                    return switch await waiting.result {
                    case .success: true
                    case .failure(let error): error is CancellationError
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == Array(repeating: true, count: 200))
    }
}
