// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// Runs code that does not check the time limits, and stops waiting for it at a limit or a cancellation.
    ///
    /// The code is then canceled, and its result is discarded.
    ///
    /// - Parameters:
    ///   - limitsAttempt: Whether the code is an attempt; if not, only the deadline and a cancellation end the wait.
    ///   - appliesStall: Whether the code reports progress, so that the stall timeout can apply.
    func leavingBehind<Value: Sendable>(
        limitsAttempt: Bool = false,
        appliesStall: Bool = false,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws(ApiConnectorError) -> Value {
        let waiter = PendingResult<Value>()
        let task = Locked<Task<Void, Never>?>(nil)
        var limited = self
        if !limitsAttempt { limited.limits = nil }
        let outcome = await limited.withStopHandler(appliesStall: appliesStall) {
            // Starts after the limits are set, so that a limit that is already reached ends the wait.
            let started = Task {
                do {
                    waiter.resume(with: .success(try await body()))
                } catch {
                    waiter.resume(with: .failure(ApiConnectorError(mapping: error, request: self)))
                }
            }
            task.withLock { $0 = started }
            if waiter.isOver { started.cancel() }
            return await waiter.result()
        } onStop: { error in
            waiter.resume(with: .failure(error))
            task.withLock { $0 }?.cancel()
        }
        return try outcome.get()
    }
}
