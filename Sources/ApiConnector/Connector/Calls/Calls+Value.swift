// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// The calls that decode a value: value, response(of:) and outcome.

extension ApiConnectionType {
    /// Sends a route's request and decodes the JSON of the response.
    ///
    /// If `type` is optional, an empty body, such as that of a 204, returns nil. Encoding and decoding never run on the
    /// caller's actor. Canceling the task ends the call immediately with kind `.cancelled`.
    ///
    /// - Parameters:
    ///   - type: The type of the value; can be left out if the context names it.
    ///   - route: The route to request.
    ///   - options: Options of this call.
    /// - Throws: ``ApiConnectorError``, of these kinds among others:
    ///   - `.backendFailure`: the body contains an error that the router's envelope describes.
    ///   - `.decodingFailed`: the body does not decode; the error has the coding path and the JSON found there.
    @concurrent
    @inlinable
    public func value<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        at route: RouterType,
        options: CallOptions = CallOptions()
    ) async throws(ApiConnectorError) -> Value {
        let pipeline = CallPipeline(self, options)
        return try await pipeline.value(type, pipeline.request(of: route, in: environment, accepting: .acceptingJSON))
    }

    /// Like ``value(_:at:options:)``, for a URL that a server returned.
    ///
    /// The request gets the default header fields of the environment and the connection. Credentials among these fields
    /// are sent only to the environment's own origin.
    @concurrent
    @_disfavoredOverload
    public func value<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        at url: URL,
        method: HTTPMethod = .get,
        body: RequestBody = .empty,
        options: CallOptions = CallOptions()
    ) async throws(ApiConnectorError) -> Value {
        try await perform(.url(url, method, body), options, .acceptingJSON, ResponseReader.value)
    }

    /// Like ``value(_:at:options:)``, with an ``ApiCall``, whose value type is fixed.
    @concurrent
    public func value<Value: Decodable & Sendable>(
        _ call: ApiCall<RouterType, Value>,
        options: CallOptions = CallOptions()
    ) async throws(ApiConnectorError) -> Value {
        try await perform(call.target, options, .acceptingJSON, ResponseReader.value)
    }

    /// Sends a route's request and returns the decoded value with the response's head.
    ///
    /// Canceling the task ends the call immediately with kind `.cancelled`.
    ///
    /// - Throws: ``ApiConnectorError``, as ``value(_:at:options:)`` does.
    @concurrent
    public func response<Value: Decodable & Sendable>(
        of type: Value.Type,
        at route: RouterType,
        options: CallOptions = CallOptions()
    ) async throws(ApiConnectorError) -> DecodedResponse<Value> {
        try await perform(.route(route), options, .acceptingJSON, ResponseReader.decoded)
    }

    /// Like ``response(of:at:options:)``, for a URL that a server returned; see ``value(_:at:method:body:options:)``.
    @concurrent
    @_disfavoredOverload
    public func response<Value: Decodable & Sendable>(
        of type: Value.Type,
        at url: URL,
        method: HTTPMethod = .get,
        body: RequestBody = .empty,
        options: CallOptions = CallOptions()
    ) async throws(ApiConnectorError) -> DecodedResponse<Value> {
        try await perform(.url(url, method, body), options, .acceptingJSON, ResponseReader.decoded)
    }

    /// Like ``response(of:at:options:)``, with an ``ApiCall``, whose value type is fixed.
    @concurrent
    public func response<Value: Decodable & Sendable>(
        _ call: ApiCall<RouterType, Value>,
        options: CallOptions = CallOptions()
    ) async throws(ApiConnectorError) -> DecodedResponse<Value> {
        try await perform(call.target, options, .acceptingJSON, ResponseReader.decoded)
    }

    /// Sends a route's request and returns one of three outcomes; does not throw.
    ///
    /// - `.success`: the value.
    /// - `.backendFailure`: the body decodes as the router's failure, for any status.
    /// - `.failure`: anything else. Canceling the task ends the call immediately with kind `.cancelled`.
    @concurrent
    public func outcome<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        at route: RouterType,
        options: CallOptions = CallOptions()
    ) async -> ApiOutcome<Value, RouterType.EnvelopeType.Failure> {
        await outcome(type, of: .route(route), options)
    }

    /// Like ``outcome(_:at:options:)``, for a URL that a server returned; see ``value(_:at:method:body:options:)``.
    @concurrent
    @_disfavoredOverload
    public func outcome<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        at url: URL,
        method: HTTPMethod = .get,
        body: RequestBody = .empty,
        options: CallOptions = CallOptions()
    ) async -> ApiOutcome<Value, RouterType.EnvelopeType.Failure> {
        await outcome(type, of: .url(url, method, body), options)
    }

    /// Like ``outcome(_:at:options:)``, with an ``ApiCall``, whose value type is fixed.
    @concurrent
    public func outcome<Value: Decodable & Sendable>(
        _ call: ApiCall<RouterType, Value>,
        options: CallOptions = CallOptions()
    ) async -> ApiOutcome<Value, RouterType.EnvelopeType.Failure> {
        await outcome(Value.self, of: call.target, options)
    }

    private func outcome<Value: Decodable & Sendable>(
        _ type: Value.Type,
        of target: CallTarget<RouterType>,
        _ options: CallOptions
    ) async -> ApiOutcome<Value, RouterType.EnvelopeType.Failure> {
        do throws(ApiConnectorError) {
            return try await perform(target, options, .acceptingJSON, ResponseReader.outcome)
        } catch {
            return .failure(error)
        }
    }
}
