// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectionType {
    /// Like ``value(_:at:options:)``, with a completion handler that is called once, by default on the caller's actor.
    @discardableResult
    public func value<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        at route: RouterType,
        options: CallOptions = CallOptions(),
        isolation: isolated (any Actor)? = #isolation,
        completion: @escaping (Result<Value, ApiConnectorError>) -> Void
    ) -> CallHandle {
        start(isolation: isolation, { try await $0.value(type, at: route, options: options) }, completion: completion)
    }

    /// Like ``outcome(_:at:options:)``, with a completion handler that is called once, by default on the caller's
    /// actor.
    @discardableResult
    public func outcome<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        at route: RouterType,
        options: CallOptions = CallOptions(),
        isolation: isolated (any Actor)? = #isolation,
        completion: @escaping (ApiOutcome<Value, RouterType.EnvelopeType.Failure>) -> Void
    ) -> CallHandle {
        CallHandle(isolation: isolation, { await outcome(type, at: route, options: options) }, completion)
    }

    /// Like ``response(of:at:options:)``, with a completion handler that is called once, by default on the caller's
    /// actor.
    @discardableResult
    public func response<Value: Decodable & Sendable>(
        of type: Value.Type,
        at route: RouterType,
        options: CallOptions = CallOptions(),
        isolation: isolated (any Actor)? = #isolation,
        completion: @escaping (Result<DecodedResponse<Value>, ApiConnectorError>) -> Void
    ) -> CallHandle {
        start(
            isolation: isolation,
            { try await $0.response(of: type, at: route, options: options) },
            completion: completion
        )
    }

    /// Like ``response(at:options:)``, with a completion handler that is called once, by default on the caller's actor.
    @discardableResult
    public func response(
        at route: RouterType,
        options: CallOptions = CallOptions(),
        isolation: isolated (any Actor)? = #isolation,
        completion: @escaping (Result<ApiResponse, ApiConnectorError>) -> Void
    ) -> CallHandle {
        start(isolation: isolation, { try await $0.response(at: route, options: options) }, completion: completion)
    }

    /// Like ``data(at:options:)``, with a completion handler that is called once, by default on the caller's actor.
    @discardableResult
    public func data(
        at route: RouterType,
        options: CallOptions = CallOptions(),
        isolation: isolated (any Actor)? = #isolation,
        completion: @escaping (Result<Data, ApiConnectorError>) -> Void
    ) -> CallHandle {
        start(isolation: isolation, { try await $0.data(at: route, options: options) }, completion: completion)
    }

    /// Like ``send(at:options:)``, with a completion handler that is called once, by default on the caller's actor.
    @discardableResult
    public func send(
        at route: RouterType,
        options: CallOptions = CallOptions(),
        isolation: isolated (any Actor)? = #isolation,
        completion: @escaping (Result<Void, ApiConnectorError>) -> Void
    ) -> CallHandle {
        start(isolation: isolation, { try await $0.send(at: route, options: options) }, completion: completion)
    }

    /// Starts one or more calls in a closure, with a completion handler that is called once.
    ///
    /// ```swift
    /// api.start { try await $0.value([Post].self, at: url) } completion: { result in show(result) }
    /// ```
    ///
    /// - Parameters:
    ///   - isolation: The actor on which the handler is called; the caller's by default.
    ///   - call: Makes the calls; does not run on the caller's actor. An error of another type is converted to an
    ///     ``ApiConnectorError``.
    ///   - completion: Receives the result.
    @discardableResult
    public func start<Value: Sendable>(
        isolation: isolated (any Actor)? = #isolation,
        _ call: @escaping @Sendable (Self) async throws -> Value,
        completion: @escaping (Result<Value, ApiConnectorError>) -> Void
    ) -> CallHandle {
        CallHandle(isolation: isolation, { await result(of: call) }, completion)
    }

    /// Like ``start(isolation:_:completion:)``, with a completion handler that is called on a dispatch queue.
    @discardableResult
    public func start<Value: Sendable>(
        on queue: DispatchQueue,
        _ call: @escaping @Sendable (Self) async throws -> Value,
        completion: @escaping @Sendable (Result<Value, ApiConnectorError>) -> Void
    ) -> CallHandle {
        CallHandle(isolation: nil, { await result(of: call) }) { value in queue.async { completion(value) } }
    }

    @concurrent
    private func result<Value: Sendable>(
        of call: @Sendable (Self) async throws -> Value
    ) async -> Result<Value, ApiConnectorError> {
        do {
            return .success(try await call(self))
        } catch {
            return .failure(ApiConnectorError(mapping: error, request: nil))
        }
    }
}

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
