// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Code that knows nothing of limits of time, run so that its caller can leave it behind.
final class AbandonableWork<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, ApiConnectorError>

    private struct State {
        var continuation: CheckedContinuation<Outcome, Never>?
        var outcome: Outcome?
        var task: Task<Void, Never>?
    }

    private let request: ApiRequest
    private let body: @Sendable () async throws -> Value
    private let state = Locked(State())

    init(_ request: ApiRequest, _ body: @escaping @Sendable () async throws -> Value) {
        self.request = request
        self.body = body
    }

    /// What the code comes to, or what ended the wait for it.
    func value() async throws(ApiConnectorError) -> Value {
        let outcome = await request.withStopHandler(limitsSilence: false) {
            await withCheckedContinuation { start(reporting: $0) }
        } onStop: { [self] in
            finish(.failure($0))
            state.withLock { $0.task }?.cancel()
        }
        return try outcome.get()
    }

    private func start(reporting continuation: CheckedContinuation<Outcome, Never>) {
        let earlier = state.withLock { state in
            if state.outcome == nil { state.continuation = continuation }
            return state.outcome
        }
        if let earlier { return continuation.resume(returning: earlier) }
        let task = Task {
            do {
                finish(.success(try await body()))
            } catch {
                finish(.failure(ApiConnectorError(mapping: error, request: request)))
            }
        }
        let isOver = state.withLock { state in
            state.task = task
            return state.outcome != nil
        }
        if isOver { task.cancel() }
    }

    private func finish(_ outcome: Outcome) {
        let continuation = state.withLock { state in
            guard state.outcome == nil else { return nil as CheckedContinuation<Outcome, Never>? }
            state.outcome = outcome
            return state.continuation.take()
        }
        continuation?.resume(returning: outcome)
    }
}
