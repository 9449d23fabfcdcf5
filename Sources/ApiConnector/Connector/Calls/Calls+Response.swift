// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectionType {
    /// Sends a route's request and returns the response with its collected body.
    ///
    /// Canceling the task ends the call immediately with kind `.cancelled`.
    ///
    /// - Throws: ``ApiConnectorError``.
    @concurrent
    public func response(
        at route: RouterType,
        options: CallOptions = CallOptions()
    ) async throws(ApiConnectorError) -> ApiResponse {
        try await whole(.route(route), options)
    }

    /// Like ``response(at:options:)``, for a URL that a server returned; see ``value(_:at:method:body:options:)``.
    @concurrent
    @_disfavoredOverload
    public func response(
        at url: URL,
        method: HTTPMethod = .get,
        body: RequestBody = .empty,
        options: CallOptions = CallOptions()
    ) async throws(ApiConnectorError) -> ApiResponse {
        try await whole(.url(url, method, body), options)
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
        try await decoded(type, .route(route), options)
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
        try await decoded(type, .url(url, method, body), options)
    }

    /// Like ``response(of:at:options:)``, with an ``ApiCall``, whose value type is fixed.
    @concurrent
    public func response<Value: Decodable & Sendable>(
        _ call: ApiCall<RouterType, Value>,
        options: CallOptions = CallOptions()
    ) async throws(ApiConnectorError) -> DecodedResponse<Value> {
        try await decoded(Value.self, call.target, options)
    }

    private func whole(
        _ target: CallTarget<RouterType>,
        _ options: CallOptions
    ) async throws(ApiConnectorError) -> ApiResponse {
        let pipeline = CallPipeline(self, options)
        return try await pipeline.run(pipeline.request(target.draft(in: environment), accepting: .acceptingAnything)) {
            (reader) throws(ApiConnectorError) in
            try reader.check()
            var response = reader.response
            response.body = ResponseBody(reader.body)
            return response
        }
    }

    private func decoded<Value: Decodable & Sendable>(
        _ type: Value.Type,
        _ target: CallTarget<RouterType>,
        _ options: CallOptions
    ) async throws(ApiConnectorError) -> DecodedResponse<Value> {
        let pipeline = CallPipeline(self, options)
        return try await pipeline.run(pipeline.request(target.draft(in: environment), accepting: .acceptingJSON)) {
            (reader) throws(ApiConnectorError) in
            DecodedResponse(
                value: try reader.read(type),
                head: reader.response.head,
                timesRecord: reader.response.timesRecord
            )
        }
    }
}
