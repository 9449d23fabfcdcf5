// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectionType {
    /// Sends a route's request and decodes the JSON that comes back.
    ///
    /// An optional type accepts an empty body, such as that of a 204, as nil. Encoding and decoding never run on the
    /// caller's actor. Canceling the task ends the call at once with kind `.cancelled`.
    ///
    /// - Parameters:
    ///   - type: What to decode; left out where the context names it.
    ///   - route: What to ask for.
    ///   - options: What this call wants otherwise than its connection.
    /// - Throws: ``ApiConnectorError``; of kind `.backendFailure` for an error that the router's envelope describes, of
    ///   kind `.decodingFailed`, with the coding path and what stood there, for a body that does not fit.
    @concurrent
    @inlinable
    public func value<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        at route: RouterType,
        options: CallOptions = CallOptions()
    ) async throws(ApiConnectorError) -> Value {
        try await fetch(type, ApiRequest(of: route, at: RouteURL(of: route, in: environment), in: environment), options)
    }

    /// As ``value(_:at:options:)``, at a URL that a server returned.
    ///
    /// The connection's defaults hold, but credentials among its header fields go to the environment's own origin only.
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

    /// As ``value(_:at:options:)``, with a call that fixes the type.
    @concurrent
    public func value<Value: Decodable & Sendable>(
        _ call: ApiCall<RouterType, Value>,
        options: CallOptions = CallOptions()
    ) async throws(ApiConnectorError) -> Value {
        try await fetch(Value.self, call.target.draft(in: environment), options)
    }

    /// Not inlined beyond the module: the route alone is asked in the user's.
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
