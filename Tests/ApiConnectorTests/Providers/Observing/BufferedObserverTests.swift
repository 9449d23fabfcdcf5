// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

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
        #expect(await buffered.flush())
        #expect(buffered.droppedCount > 0)
        #expect(stuck.lines.events.count == 1024)
    }

    private struct Placed: CallObserver {
        let isInTask: EventLog<Bool>

        func handle(_ event: CallEvent) { isInTask.note(withUnsafeCurrentTask { $0 != nil }) }
    }

    /// The threads that run tasks also run the calls.
    @Test func anObserverHasItsOwnThread() async throws {
        let placed = Placed(isInTask: EventLog())
        let buffered = BufferedObserver(placed, limit: 8, timeSource: ManualClock())
        let provider = TestConnector { _ in .status(204) }.observing(by: buffered)
        let api = NetworkConnector(environment: Place(), provider: provider, router: Endpoint<ApiPath>.self)
        try await api.send(at: Endpoint(path: "/a"))
        #expect(await buffered.flush())
        #expect(Set(placed.isInTask.events) == [false])
    }

    @Test func aFlushEndsAfter10SecondsIfTheObserverHangs() async throws {
        let clock = ManualClock()
        let stuck = Stuck(gate: Gate(), lines: EventLog())
        let buffered = BufferedObserver(stuck, limit: 8, timeSource: clock)
        let provider = TestConnector { _ in .status(204) }.observing(by: buffered)
        let api = NetworkConnector(environment: Place(), provider: provider, router: Endpoint<ApiPath>.self)
        try await api.send(at: Endpoint(path: "/a"))
        let flush = Task { await buffered.flush() }
        #expect(try await clock.nextSleep(of: .limit) == .seconds(10))
        clock.advance(by: .seconds(10))
        #expect(await flush.value == false)
        #expect(stuck.lines.events.isEmpty)
        stuck.gate.open()
        stuck.semaphore.signal()
        #expect(await buffered.flush())
        #expect(!stuck.lines.events.isEmpty)
    }
}
