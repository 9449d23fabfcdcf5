// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A handle that cancels a call with a completion handler.
///
/// Releasing the handle does not cancel the call.
public struct CallHandle: Sendable {
    private let task: Task<Void, Never>

    /// Starts a call, and calls a handler on an actor.
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
    /// Its handler is called with kind `.cancelled`, unless the call has already ended.
    public func cancel() {
        task.cancel()
    }
}
