// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// Runs code that does not know of time limits, so that its caller can leave it behind: when a limit or a
    /// cancellation ends the wait, the code is cancelled, and its result is discarded.
    ///
    /// - Parameter limitsAttempt: Whether the code is an attempt; if not, only the deadline and a cancellation end the wait.
    func leavingBehind<Value: Sendable>(
        limitsAttempt: Bool = false,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws(ApiConnectorError) -> Value {
        let waiter = Waiter<Value>()
        let task = Locked<Task<Void, Never>?>(nil)
        var limited = self
        if !limitsAttempt { limited.limits = nil }
        let outcome = await limited.withStopHandler(limitsSilence: false) {
            // It starts when the limits are in place, so that a limit that it meets itself ends the wait.
            let started = Task {
                do {
                    waiter.resume(with: .success(try await body()))
                } catch {
                    waiter.resume(with: .failure(ApiConnectorError(mapping: error, request: self)))
                }
            }
            task.withLock { $0 = started }
            if waiter.isOver { started.cancel() }
            return await waiter.outcome()
        } onStop: { error in
            waiter.resume(with: .failure(error))
            task.withLock { $0 }?.cancel()
        }
        return try outcome.get()
    }
}
