// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectionType {
    /// As ``value(_:at:options:)``, with a handler that is called once, on the caller's actor, or on one of the
    /// caller's choice.
    @discardableResult
    public func value<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        at route: RouterType,
        options: CallOptions = CallOptions(),
        isolation: isolated (any Actor)? = #isolation,
        completion: @escaping (Result<Value, ApiConnectorError>) -> Void
    ) -> CallHandle {
        let call = { @Sendable () async throws(ApiConnectorError) in
            try await value(type, at: route, options: options)
        }
        return CallHandle(isolation: isolation, call, completion)
    }

    /// As ``value(_:at:method:body:options:)``, with a handler that is called once, on the caller's actor, or on one of
    /// the caller's choice.
    @discardableResult
    @_disfavoredOverload
    public func value<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        at url: URL,
        method: HTTPMethod = .get,
        body: RequestBody = .empty,
        options: CallOptions = CallOptions(),
        isolation: isolated (any Actor)? = #isolation,
        completion: @escaping (Result<Value, ApiConnectorError>) -> Void
    ) -> CallHandle {
        let call = { @Sendable () async throws(ApiConnectorError) in
            try await value(type, at: url, method: method, body: body, options: options)
        }
        return CallHandle(isolation: isolation, call, completion)
    }

    /// As ``outcome(_:at:options:)``, with a handler that is called once, on the caller's actor, or on one of the
    /// caller's choice.
    @discardableResult
    public func outcome<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        at route: RouterType,
        options: CallOptions = CallOptions(),
        isolation: isolated (any Actor)? = #isolation,
        completion: @escaping (ApiOutcome<Value, RouterType.EnvelopeType.Failure>) -> Void
    ) -> CallHandle {
        let call = { @Sendable () async in await outcome(type, at: route, options: options) }
        return CallHandle(isolation: isolation, call, completion)
    }

    /// As ``outcome(_:at:method:body:options:)``, with a handler that is called once, on the caller's actor, or on one
    /// of the caller's choice.
    @discardableResult
    @_disfavoredOverload
    public func outcome<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        at url: URL,
        method: HTTPMethod = .get,
        body: RequestBody = .empty,
        options: CallOptions = CallOptions(),
        isolation: isolated (any Actor)? = #isolation,
        completion: @escaping (ApiOutcome<Value, RouterType.EnvelopeType.Failure>) -> Void
    ) -> CallHandle {
        let call = { @Sendable () async in await outcome(type, at: url, method: method, body: body, options: options) }
        return CallHandle(isolation: isolation, call, completion)
    }

    /// As ``response(of:at:options:)``, with a handler that is called once, on the caller's actor, or on one of the
    /// caller's choice.
    @discardableResult
    public func response<Value: Decodable & Sendable>(
        of type: Value.Type,
        at route: RouterType,
        options: CallOptions = CallOptions(),
        isolation: isolated (any Actor)? = #isolation,
        completion: @escaping (Result<DecodedResponse<Value>, ApiConnectorError>) -> Void
    ) -> CallHandle {
        let call = { @Sendable () async throws(ApiConnectorError) in
            try await response(of: type, at: route, options: options)
        }
        return CallHandle(isolation: isolation, call, completion)
    }

    /// As ``response(of:at:method:body:options:)``, with a handler that is called once, on the caller's actor, or on
    /// one of the caller's choice.
    @discardableResult
    @_disfavoredOverload
    public func response<Value: Decodable & Sendable>(
        of type: Value.Type,
        at url: URL,
        method: HTTPMethod = .get,
        body: RequestBody = .empty,
        options: CallOptions = CallOptions(),
        isolation: isolated (any Actor)? = #isolation,
        completion: @escaping (Result<DecodedResponse<Value>, ApiConnectorError>) -> Void
    ) -> CallHandle {
        let call = { @Sendable () async throws(ApiConnectorError) in
            try await response(of: type, at: url, method: method, body: body, options: options)
        }
        return CallHandle(isolation: isolation, call, completion)
    }

    /// As ``response(at:options:)``, with a handler that is called once, on the caller's actor, or on one of the
    /// caller's choice.
    @discardableResult
    public func response(
        at route: RouterType,
        options: CallOptions = CallOptions(),
        isolation: isolated (any Actor)? = #isolation,
        completion: @escaping (Result<ApiResponse, ApiConnectorError>) -> Void
    ) -> CallHandle {
        let call = { @Sendable () async throws(ApiConnectorError) in
            try await response(at: route, options: options)
        }
        return CallHandle(isolation: isolation, call, completion)
    }

    /// As ``response(at:method:body:options:)``, with a handler that is called once, on the caller's actor, or on one
    /// of the caller's choice.
    @discardableResult
    @_disfavoredOverload
    public func response(
        at url: URL,
        method: HTTPMethod = .get,
        body: RequestBody = .empty,
        options: CallOptions = CallOptions(),
        isolation: isolated (any Actor)? = #isolation,
        completion: @escaping (Result<ApiResponse, ApiConnectorError>) -> Void
    ) -> CallHandle {
        let call = { @Sendable () async throws(ApiConnectorError) in
            try await response(at: url, method: method, body: body, options: options)
        }
        return CallHandle(isolation: isolation, call, completion)
    }

    /// As ``data(at:options:)``, with a handler that is called once, on the caller's actor, or on one of the caller's
    /// choice.
    @discardableResult
    public func data(
        at route: RouterType,
        options: CallOptions = CallOptions(),
        isolation: isolated (any Actor)? = #isolation,
        completion: @escaping (Result<Data, ApiConnectorError>) -> Void
    ) -> CallHandle {
        let call = { @Sendable () async throws(ApiConnectorError) in
            try await data(at: route, options: options)
        }
        return CallHandle(isolation: isolation, call, completion)
    }

    /// As ``data(at:method:body:options:)``, with a handler that is called once, on the caller's actor, or on one of
    /// the caller's choice.
    @discardableResult
    @_disfavoredOverload
    public func data(
        at url: URL,
        method: HTTPMethod = .get,
        body: RequestBody = .empty,
        options: CallOptions = CallOptions(),
        isolation: isolated (any Actor)? = #isolation,
        completion: @escaping (Result<Data, ApiConnectorError>) -> Void
    ) -> CallHandle {
        let call = { @Sendable () async throws(ApiConnectorError) in
            try await data(at: url, method: method, body: body, options: options)
        }
        return CallHandle(isolation: isolation, call, completion)
    }

    /// As ``send(at:options:)``, with a handler that is called once, on the caller's actor, or on one of the caller's
    /// choice.
    @discardableResult
    public func send(
        at route: RouterType,
        options: CallOptions = CallOptions(),
        isolation: isolated (any Actor)? = #isolation,
        completion: @escaping (Result<Void, ApiConnectorError>) -> Void
    ) -> CallHandle {
        let call = { @Sendable () async throws(ApiConnectorError) in
            try await send(at: route, options: options)
        }
        return CallHandle(isolation: isolation, call, completion)
    }

    /// As ``send(at:method:body:options:)``, with a handler that is called once, on the caller's actor, or on one of
    /// the caller's choice.
    @discardableResult
    @_disfavoredOverload
    public func send(
        at url: URL,
        method: HTTPMethod = .get,
        body: RequestBody = .empty,
        options: CallOptions = CallOptions(),
        isolation: isolated (any Actor)? = #isolation,
        completion: @escaping (Result<Void, ApiConnectorError>) -> Void
    ) -> CallHandle {
        let call = { @Sendable () async throws(ApiConnectorError) in
            try await send(at: url, method: method, body: body, options: options)
        }
        return CallHandle(isolation: isolation, call, completion)
    }
}
