// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A wait for one outcome: the first one counts, also if it comes before the wait starts.
final class Waiter<Success: Sendable>: Sendable {
    typealias Outcome = Result<Success, ApiConnectorError>

    private struct State {
        var outcome: Outcome?
        var continuation: CheckedContinuation<Outcome, Never>?
    }

    private let state = Protected(State())

    /// Whether there is an outcome.
    var isOver: Bool { state.withLock { $0.outcome != nil } }

    func outcome() async -> Outcome {
        await withCheckedContinuation { continuation in
            let early = state.withLock { state in
                if state.outcome == nil { state.continuation = continuation }
                return state.outcome
            }
            if let early { continuation.resume(returning: early) }
        }
    }

    func resume(with outcome: Outcome) {
        let continuation = state.withLock { state in
            if state.outcome == nil { state.outcome = outcome }
            return state.continuation.take()
        }
        continuation?.resume(returning: outcome)
    }
}
