// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// When a task of a session is suspended and resumed.
struct URLSessionFlowTests {
    private enum Call: Equatable {
        case suspend, resume
    }

    /// A flow over a task that only records, and a closure that waits for the calls that were made.
    private func recorded() -> (flow: URLSessionFlow, calls: @Sendable (Int) async throws -> [Call]) {
        let calls = Locked<[Call]>([])
        let gates = (0..<4).map { Gate("call \($0)") }
        let record: @Sendable (Call) -> Void = { call in
            let count = calls.withLock { calls in
                calls.append(call)
                return calls.count
            }
            gates[count - 1].open()
        }
        let flow = URLSessionFlow(suspend: { record(.suspend) }, resume: { record(.resume) })
        return (
            flow,
            { count in
                if count > 0 { try await gates[count - 1].opened() }
                return calls.withLock { $0 }
            }
        )
    }

    @Test func suspendsAtOneMebibyteAndResumesBelowHalfOfIt() async throws {
        let (flow, calls) = recorded()
        let limit = URLSessionFlow.suspendingByteCount
        #expect(limit == 1 << 20)
        flow.received(limit - 1)
        #expect(try await calls(0) == [])
        flow.received(1)
        // Bytes that were on their way when the task was suspended.
        flow.received(limit)
        #expect(try await calls(1) == [.suspend])
        flow.delivered(limit + limit / 2)
        #expect(try await calls(1) == [.suspend])
        flow.delivered(1)
        #expect(try await calls(2) == [.suspend, .resume])
        flow.received(limit)
        #expect(try await calls(3) == [.suspend, .resume, .suspend])
    }

    @Test func suspendsNothingAfterTheReaderHasStopped() async throws {
        let (flow, calls) = recorded()
        flow.end()
        flow.received(URLSessionFlow.suspendingByteCount)
        flow.delivered(URLSessionFlow.suspendingByteCount)
        #expect(try await calls(0) == [])
    }

    /// A body of a session whose task can be suspended, and whose reader comes late.
    @Test func aBodySuspendsItsTaskUntilItIsRead() async throws {
        let (flow, calls) = recorded()
        let url = try #require(URL(string: "http://localhost:1/"))
        let body = URLSessionBody(of: ApiRequest(url: url), flow: flow) {}
        for _ in 0..<8 { body.receive(Data(count: 1 << 18)) }
        #expect(try await calls(1) == [.suspend])
        #expect(try await body.next()?.count == 1 << 21)
        #expect(try await calls(2) == [.suspend, .resume])
        body.end(nil)
        #expect(try await body.next() == nil)
    }

    /// A system that goes on in spite of the suspension must not fill the memory.
    @Test func aBodyThatArrivesDespiteTheSuspensionFailsAtItsWindow() async throws {
        let (flow, _) = recorded()
        let url = try #require(URL(string: "http://localhost:1/"))
        let isStopped = Gate("stop")
        let body = URLSessionBody(of: ApiRequest(url: url), flow: flow) { isStopped.open() }
        for _ in 0..<17 { body.receive(Data(count: 1 << 20)) }
        try await isStopped.opened()
        #expect(try await body.next()?.count == URLSessionBody.windowByteCount)
        let error = await #expect(throws: ApiConnectorError.self) { try await body.next() }
        #expect(error?.kind == .bodyTooLarge)
        #expect(
            error?.detail.hasSuffix(
                "URLSession keeps delivering although its task is suspended; read it faster"
            ) == true
        )
    }
}
