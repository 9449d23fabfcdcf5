// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting

/// Notes events from any thread, and lets a test wait until some have happened.
final class EventLog<Event: Hashable & Sendable>: Sendable {
    private struct State {
        var events: [Event] = []
        var waiter: (missing: Set<Event>, gate: Gate)?
    }

    private let state = Locked(State())

    /// The events in the order in which they happened.
    var events: [Event] { state.withLock { $0.events } }

    func note(_ event: Event) {
        let gate = state.withLock { state in
            state.events.append(event)
            state.waiter?.missing.remove(event)
            guard state.waiter?.missing.isEmpty == true else { return nil as Gate? }
            return state.waiter.take()?.gate
        }
        gate?.open()
    }

    /// Waits until each of some events has happened; one waiter at a time.
    func happened(_ expected: Set<Event>) async throws {
        let gate = state.withLock { state in
            let missing = expected.subtracting(state.events)
            guard !missing.isEmpty else { return nil as Gate? }
            let gate = Gate("last of \(missing)")
            state.waiter = (missing, gate)
            return gate
        }
        try await gate?.opened()
    }
}
