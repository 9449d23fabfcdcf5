// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// Runs a transport's wait so that it can be ended: by the task's cancel, a timeout or the call's deadline.
    ///
    /// `onStop` is called at most once for each of these, from any thread, possibly before `operation` starts; it has to
    /// make `operation` return at once, with the error that it is handed.
    ///
    /// - Parameters:
    ///   - operation: The wait.
    ///   - onStop: Ends it.
    public func withStopHandler<Value>(
        _ operation: () async -> Value,
        onStop: @escaping @Sendable (ApiConnectorError) -> Void
    ) async -> Value {
        await withStopHandler(limitsSilence: true, operation, onStop: onStop)
    }

    /// - Parameter limitsSilence: Whether the operation reports progress, so that its silence can be limited.
    func withStopHandler<Value>(
        limitsSilence: Bool,
        _ operation: () async -> Value,
        onStop: @escaping @Sendable (ApiConnectorError) -> Void
    ) async -> Value {
        let number = watch?.attach(limitsSilence: limitsSilence) { [self] in onStop($0.completed(request: self)) }
        defer { if let number { watch?.detach(number) } }
        return await withTaskCancellationHandler(operation: operation) {
            onStop(.cancelled(self))
        }
    }

    /// Tells the connection that bytes were sent or received, so that it does not take the transport for stalled.
    public func reportProgress() {
        watch?.reportProgress()
    }
}
