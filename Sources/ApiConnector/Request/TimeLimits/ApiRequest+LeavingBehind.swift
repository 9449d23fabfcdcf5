// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// Runs a wrapper's code that may ignore a cancellation, and stops waiting for it at the call's deadline.
    ///
    /// A cancellation and the call's deadline end the wait immediately. The code is then canceled, and its result is
    /// discarded. The code is not part of an attempt: ``Timeouts/attempt`` and ``Timeouts/stall`` do not apply.
    ///
    /// ```swift
    /// let token = try await request.withDeadline { try await refresh.value }
    /// ```
    ///
    /// - Parameter body: The code; run once, in its own task.
    /// - Throws: ``ApiConnectorError``; of kind `.cancelled` or `.deadlineExceeded` if this ended the wait. An error of
    ///   the code is converted as in ``ApiConnectorError/mapping(_:_:)``.
    public func withDeadline<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws(ApiConnectorError) -> Value {
        try await leavingBehind(body)
    }

    /// Runs code that does not know of time limits, and stops waiting for it at a limit or a cancellation.
    ///
    /// The code is then canceled, and its result is discarded.
    ///
    /// - Parameter limitsAttempt: Whether the code is an attempt; if not, only the deadline and a cancellation end the
    ///   wait.
    func leavingBehind<Value: Sendable>(
        limitsAttempt: Bool = false,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws(ApiConnectorError) -> Value {
        let waiter = PendingResult<Value>()
        let task = Locked<Task<Void, Never>?>(nil)
        var limited = self
        if !limitsAttempt { limited.limits = nil }
        let outcome = await limited.withStopHandler(limitsSilence: false) {
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
