// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A call that was started with a completion handler: what can cancel it.
///
/// Letting go of it changes nothing; the call goes on.
public struct CallHandle: Sendable {
    private let task: Task<Void, Never>

    /// Starts a call, and hands what comes to a handler on the caller's actor.
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

    /// Starts a call, and hands what comes to a handler on a queue.
    init<Value: Sendable>(
        queue: DispatchQueue,
        _ call: @escaping @Sendable () async -> Value,
        _ completion: @escaping @Sendable (Value) -> Void
    ) {
        task = Task {
            let value = await call()
            queue.async { completion(value) }
        }
    }

    /// Starts a call that can fail, and hands its result to a handler on the caller's actor.
    init<Value: Sendable>(
        isolation: isolated (any Actor)?,
        _ call: @escaping @Sendable () async throws(ApiConnectorError) -> Value,
        _ completion: @escaping (Result<Value, ApiConnectorError>) -> Void
    ) {
        self.init(isolation: isolation, { await Self.result(of: call) }, completion)
    }

    /// Starts a call that can fail, and hands its result to a handler on a queue.
    init<Value: Sendable>(
        queue: DispatchQueue,
        _ call: @escaping @Sendable () async throws(ApiConnectorError) -> Value,
        _ completion: @escaping @Sendable (Result<Value, ApiConnectorError>) -> Void
    ) {
        self.init(queue: queue, { await Self.result(of: call) }, completion)
    }

    /// Ends the call; its handler is called with kind `.cancelled`, unless the result is on its way already.
    public func cancel() {
        task.cancel()
    }

    @concurrent
    private static func result<Value: Sendable>(
        of call: @escaping @Sendable () async throws(ApiConnectorError) -> Value
    ) async -> Result<Value, ApiConnectorError> {
        do throws(ApiConnectorError) {
            return .success(try await call())
        } catch {
            return .failure(error)
        }
    }
}
