// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting

/// Records every event, and lets a test wait for events.
final class EventRecorder: CallObserver {
    private struct State {
        var events: [CallEvent] = []
        var waiters: [(isMet: @Sendable ([CallEvent]) -> Bool, gate: Gate)] = []
    }

    private let state = Locked(State())

    var events: [CallEvent] { state.withLock { $0.events } }

    /// The events as their texts, without call, attempt and request.
    var texts: [String] { events.map(\.kind.description) }

    func handle(_ event: CallEvent) {
        let gates = state.withLock { state in
            state.events.append(event)
            let events = state.events
            let met = state.waiters.filter { $0.isMet(events) }
            state.waiters.removeAll { $0.isMet(events) }
            return met.map(\.gate)
        }
        for gate in gates { gate.open() }
    }

    /// Waits until `count` events with this text have come.
    func has(_ count: Int, _ text: String) async throws {
        let isMet: @Sendable ([CallEvent]) -> Bool = { events in
            events.count { $0.kind.description == text } >= count
        }
        let gate = Gate("event \(count) of \"\(text)\"")
        let isMetAlready = state.withLock { state in
            if isMet(state.events) { return true }
            state.waiters.append((isMet, gate))
            return false
        }
        if !isMetAlready { try await gate.opened() }
    }
}
