// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// Runs code of a wrapper that may not notice a cancellation, so that the call can leave it behind.
    ///
    /// A cancellation and the call's deadline end the wait at once. The code is canceled then, and its result is discarded. It
    /// is not part of an attempt: ``Timeouts/attempt`` and ``Timeouts/stall`` do not limit it.
    ///
    /// ```swift
    /// let token = try await request.withDeadline { try await refresh.value }
    /// ```
    ///
    /// - Parameter body: The code; run once, in its own task.
    /// - Throws: ``ApiConnectorError``; of kind `.cancelled` or `.deadlineExceeded` for what ended the wait. An error of the
    ///   code is mapped as by ``ApiConnectorError/mapping(_:_:)``.
    public func withDeadline<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws(ApiConnectorError) -> Value {
        try await leavingBehind(body)
    }

    /// Runs code that does not know of time limits, so that its caller can leave it behind: when a limit or a
    /// cancellation ends the wait, the code is canceled, and its result is discarded.
    ///
    /// - Parameter limitsAttempt: Whether the code is an attempt; if not, only the deadline and a cancellation end the wait.
    func leavingBehind<Value: Sendable>(
        limitsAttempt: Bool = false,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws(ApiConnectorError) -> Value {
        let waiter = PendingResult<Value>()
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
            return await waiter.result()
        } onStop: { error in
            waiter.resume(with: .failure(error))
            task.withLock { $0 }?.cancel()
        }
        return try outcome.get()
    }
}
