// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A call that was started with a completion handler: what can cancel it.
///
/// Letting go of it changes nothing; the call goes on.
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

    /// Ends the call; its handler is called with kind `.cancelled`, unless the result is on its way already.
    public func cancel() {
        task.cancel()
    }
}
