// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Waits for one outcome, which may come before the wait begins; the first one counts.
final class OutcomeWaiter<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, ApiConnectorError>

    private struct State {
        var outcome: Outcome?
        var continuation: CheckedContinuation<Outcome, Never>?
    }

    private let state = Locked(State())

    /// The outcome; called once.
    func outcome() async -> Outcome {
        await withCheckedContinuation { continuation in
            let early = state.withLock { state in
                if state.outcome == nil { state.continuation = continuation }
                return state.outcome
            }
            if let early { continuation.resume(returning: early) }
        }
    }

    /// Ends the wait; a later outcome is dropped.
    func resume(with outcome: Outcome) {
        let continuation = state.withLock { state in
            if state.outcome == nil { state.outcome = outcome }
            return state.continuation.take()
        }
        continuation?.resume(returning: outcome)
    }
}
