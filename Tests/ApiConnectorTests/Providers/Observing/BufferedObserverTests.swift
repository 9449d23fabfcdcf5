// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

struct BufferedObserverTests {
    private struct Stuck: CallObserver {
        let gate: Gate
        let lines: EventLog<String>
        let semaphore = DispatchSemaphore(value: 0)

        func handle(_ event: CallEvent) {
            if !gate.isOpen { semaphore.wait() }
            lines.note("\(event.kind)")
        }
    }

    @Test func aBufferHolds1024EventsByDefault() async throws {
        let stuck = Stuck(gate: Gate(), lines: EventLog())
        let buffered = stuck.buffered()
        let provider = TestConnector { _ in .status(204) }.observing(by: buffered)
        let api = NetworkConnector(environment: Place(), provider: provider, router: Endpoint<ApiPath>.self)
        for _ in 0..<500 { try await api.send(at: Endpoint(path: "/a")) }
        stuck.gate.open()
        stuck.semaphore.signal()
        await buffered.flush()
        #expect(buffered.droppedCount > 0)
        #expect(stuck.lines.events.count == 1024)
    }
}
