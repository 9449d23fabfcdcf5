// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A handle for canceling a call that was started with a completion handler.
///
/// Releasing the handle does not cancel the call.
public struct CallHandle: Sendable {
    private let task: Task<Void, Never>

    /// Starts a call, and calls its completion handler on the actor.
    init<Value: Sendable>(
        isolation: isolated (any Actor)?,
        _ call: @escaping @Sendable () async -> Value,
        _ completion: @escaping (Value) -> Void
    ) {
        task = Task {
            _ = isolation
            completion(await call())
        }
    }

    /// Cancels the call.
    ///
    /// The completion handler then gets an error of kind `.cancelled`, unless the call has already ended.
    public func cancel() {
        task.cancel()
    }
}
