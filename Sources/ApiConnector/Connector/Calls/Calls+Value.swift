// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

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
        try await fetch(type, ApiRequest(of: route, at: RouteURL(of: route, in: environment), in: environment), options)
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
        try await fetch(type, ApiRequest(at: url, method, body, from: environment), options)
    }

    /// Like ``value(_:at:options:)``, with an ``ApiCall``, whose value type is fixed.
    @concurrent
    public func value<Value: Decodable & Sendable>(
        _ call: ApiCall<RouterType, Value>,
        options: CallOptions = CallOptions()
    ) async throws(ApiConnectorError) -> Value {
        try await fetch(Value.self, call.target.draft(in: environment), options)
    }

    /// Runs the call.
    ///
    /// It is not inlined into the user's module. Only the code that reads the route has to be inlined there.
    @usableFromInline func fetch<Value: Decodable & Sendable>(
        _ type: Value.Type,
        _ draft: @autoclosure () throws(ApiConnectorError) -> ApiRequest,
        _ options: CallOptions
    ) async throws(ApiConnectorError) -> Value {
        let pipeline = CallPipeline(self, options)
        return try await pipeline.run(pipeline.request(draft(), accepting: .acceptingJSON)) {
            (reader) throws(ApiConnectorError) in
            try reader.read(type)
        }
    }
}
