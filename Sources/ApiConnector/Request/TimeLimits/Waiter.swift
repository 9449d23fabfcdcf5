// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Someone who waits for one outcome: the first that is handed in is its own, however early it comes.
final class Waiter<Success: Sendable>: Sendable {
    typealias Outcome = Result<Success, ApiConnectorError>

    private struct State {
        var outcome: Outcome?
        var continuation: CheckedContinuation<Outcome, Never>?
    }

    private let state = Locked(State())

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
