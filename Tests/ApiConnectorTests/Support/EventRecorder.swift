// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

/// Keeps every event that it is told.
final class EventRecorder: CallObserver {
    private let state = Locked<[CallEvent]>([])

    var events: [CallEvent] { state.withLock { $0 } }

    /// The events as their texts, without call, attempt and request.
    var texts: [String] { events.map(\.kind.description) }

    func handle(_ event: CallEvent) {
        state.withLock { $0.append(event) }
    }
}
