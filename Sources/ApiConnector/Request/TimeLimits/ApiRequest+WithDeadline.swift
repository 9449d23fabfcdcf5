// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// Runs a wrapper's wait, and calls a closure that ends it at a cancellation or the call's deadline.
    ///
    /// Such a wait is not part of an attempt: ``Timeouts/attempt`` and ``Timeouts/stall`` do not apply. The operation
    /// runs in the caller's task, and `onStop` ends it. For code that a closure cannot end, use ``withDeadline(_:)``.
    ///
    /// ```swift
    /// let outcome = await request.withDeadline { await queue.turn(of: waiter) } onStop: { error in
    ///     queue.remove(waiter, throwing: error)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - operation: The wait.
    ///   - onStop: Ends the wait with the error that it gets. It is called at most once for the cancellation and once
    ///     for the deadline, from any thread, and possibly before `operation` starts.
    public func withDeadline<Value>(
        _ operation: () async -> Value,
        onStop: @escaping @Sendable (ApiConnectorError) -> Void
    ) async -> Value {
        var request = self
        request.limits = nil
        return await request.withStopHandler(appliesStall: false, operation, onStop: onStop)
    }

    /// Runs a wrapper's code that may ignore a cancellation, and stops waiting for it at the call's deadline.
    ///
    /// A cancellation and the call's deadline end the wait immediately. The code is then canceled, and its result is
    /// discarded. The code is not part of an attempt: ``Timeouts/attempt`` and ``Timeouts/stall`` do not apply. A wait
    /// that a closure can end needs no task of its own, so use ``withDeadline(_:onStop:)`` for it.
    ///
    /// ```swift
    /// let token = try await request.withDeadline { try await refresh.value }
    /// ```
    ///
    /// - Parameter body: The code; run once, in its own task.
    /// - Throws: ``ApiConnectorError``; of kind `.cancelled` or `.deadlineExceeded` if a cancellation or the deadline
    ///   ended the wait. An error of the code is converted as in ``ApiConnectorError/mapping(_:_:)``.
    public func withDeadline<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws(ApiConnectorError) -> Value {
        try await leavingBehind(body)
    }
}
