// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// Runs a transport's wait, and calls a closure that ends it at the task's cancellation, a timeout or the call's
    /// deadline.
    ///
    /// `onStop` is called at most once for each of these, from any thread, and possibly before `operation` starts. It
    /// has to make `operation` return immediately, with the error that it gets.
    ///
    /// The limits are those of ``withTimeLimits(_:)``. Outside of that function, the stall timeout is off, and
    /// ``Timeouts/attempt`` covers only the operation.
    ///
    /// - Parameters:
    ///   - operation: The wait.
    ///   - readPending: Reads the bytes that the system has received but the transport has not. It reports progress for
    ///     these bytes, and then calls `completion` once. It runs before a time limit ends the wait or, later,
    ///     the response's body. Bytes may then be pending because the process was suspended or the machine is busy.
    ///     If it does not call `completion` within 5 seconds of the system's time, the limit applies without it.
    ///     With nil, the default, a time limit ends the wait immediately.
    ///   - onStop: Ends the wait.
    public func withStopHandler<Value>(
        _ operation: () async -> Value,
        readPending: (@Sendable (_ completion: @escaping @Sendable () -> Void) -> Void)? = nil,
        onStop: @escaping @Sendable (ApiConnectorError) -> Void
    ) async -> Value {
        await withStopHandler(appliesStall: true, operation, readPending: readPending, onStop: onStop)
    }

    /// - Parameter appliesStall: Whether the operation reports progress, so that the stall timeout can apply.
    func withStopHandler<Value>(
        appliesStall: Bool,
        _ operation: () async -> Value,
        readPending: AttemptWatch.ReadPending? = nil,
        onStop: @escaping @Sendable (ApiConnectorError) -> Void
    ) async -> Value {
        guard watch == nil, isTimeLimited, let watch = newWatch() else {
            return await withinWatch(appliesStall: appliesStall, operation, readPending: readPending, onStop: onStop)
        }
        defer { watch.end() }
        var watched = self
        watched.watch = watch
        // The stall timeout is off, because the operation reports progress to the caller's request, which has no watch.
        return await watched.withinWatch(appliesStall: false, operation, readPending: nil, onStop: onStop)
    }

    private func withinWatch<Value>(
        appliesStall: Bool,
        _ operation: () async -> Value,
        readPending: AttemptWatch.ReadPending?,
        onStop: @escaping @Sendable (ApiConnectorError) -> Void
    ) async -> Value {
        let number = watch?.attach(appliesStall: appliesStall, readPending) { [self] in
            onStop($0.completed(request: self))
        }
        defer { if let number { watch?.detach(number) } }
        return await withTaskCancellationHandler(operation: operation) {
            onStop(.cancelled(self))
        }
    }

    /// Reports that bytes were sent or received, which restarts the stall timeout.
    ///
    /// It only has an effect on the request that ``withTimeLimits(_:)`` passes to its closure.
    public func reportProgress() {
        watch?.reportProgress()
    }
}
