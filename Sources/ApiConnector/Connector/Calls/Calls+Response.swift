// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// The calls that do not decode a value: response(at:), data, string and send. The request of a call, without sending it.

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
        try await perform(.route(route), options, .acceptingAnything, ResponseReader.response)
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
        try await perform(.url(url, method, body), options, .acceptingAnything, ResponseReader.response)
    }

    /// Sends a route's request and returns the bytes of the response's body.
    ///
    /// Canceling the task ends the call immediately with kind `.cancelled`.
    ///
    /// - Throws: ``ApiConnectorError``.
    @concurrent
    public func data(
        at route: RouterType,
        options: CallOptions = CallOptions()
    ) async throws(ApiConnectorError) -> Data {
        try await perform(.route(route), options, .acceptingAnything, ResponseReader.data)
    }

    /// Like ``data(at:options:)``, for a URL that a server returned; see ``value(_:at:method:body:options:)``.
    @concurrent
    @_disfavoredOverload
    public func data(
        at url: URL,
        method: HTTPMethod = .get,
        body: RequestBody = .empty,
        options: CallOptions = CallOptions()
    ) async throws(ApiConnectorError) -> Data {
        try await perform(.url(url, method, body), options, .acceptingAnything, ResponseReader.data)
    }

    /// Sends a route's request and returns the body as text, in the response's charset.
    ///
    /// The default charset is UTF-8. Charsets have the names and the meaning of the WHATWG Encoding Standard, so
    /// `iso-8859-1` is windows-1252. A byte order mark takes precedence over the charset, and is removed. In UTF-8 and
    /// UTF-16, invalid bytes become U+FFFD. Canceling the task ends the call immediately with kind `.cancelled`.
    ///
    /// - Throws: ``ApiConnectorError``; of kind `.decodingFailed` if the charset is not supported or the body is not
    ///   valid in it.
    @concurrent
    public func string(
        at route: RouterType,
        options: CallOptions = CallOptions()
    ) async throws(ApiConnectorError) -> String {
        try await perform(.route(route), options, .acceptingAnything, ResponseReader.text)
    }

    /// Like ``string(at:options:)``, for a URL that a server returned; see ``value(_:at:method:body:options:)``.
    @concurrent
    @_disfavoredOverload
    public func string(
        at url: URL,
        method: HTTPMethod = .get,
        body: RequestBody = .empty,
        options: CallOptions = CallOptions()
    ) async throws(ApiConnectorError) -> String {
        try await perform(.url(url, method, body), options, .acceptingAnything, ResponseReader.text)
    }

    /// Sends a route's request and checks the response, without decoding a value.
    ///
    /// Throws for a response that fails validation or that contains the backend's own error. Canceling the task ends
    /// the call immediately with kind `.cancelled`. After a cancellation, the server may still process the request.
    ///
    /// - Throws: ``ApiConnectorError``.
    @concurrent
    public func send(at route: RouterType, options: CallOptions = CallOptions()) async throws(ApiConnectorError) {
        try await perform(.route(route), options, .acceptingAnything, ResponseReader.nothing)
    }

    /// Like ``send(at:options:)``, for a URL that a server returned; see ``value(_:at:method:body:options:)``.
    @concurrent
    @_disfavoredOverload
    public func send(
        at url: URL,
        method: HTTPMethod = .get,
        body: RequestBody = .empty,
        options: CallOptions = CallOptions()
    ) async throws(ApiConnectorError) {
        try await perform(.url(url, method, body), options, .acceptingAnything, ResponseReader.nothing)
    }

    /// Like ``send(at:options:)``, with a call that has no value.
    @concurrent
    public func send(
        _ call: ApiCall<RouterType, Void>,
        options: CallOptions = CallOptions()
    ) async throws(ApiConnectorError) {
        try await perform(call.target, options, .acceptingAnything, ResponseReader.nothing)
    }

    /// The URL of a route in this connection's environment, as ``ApiRouter/url(for:)`` builds it; sends nothing.
    ///
    /// The connection's encoder writes the dates in the query.
    public func url(at route: RouterType) -> URL {
        RouteURL(of: route, in: environment, datesBy: configuration.encoder).url
    }

    /// The request that ``data(at:options:)`` would send, with merged header fields and encoded body; sends nothing.
    ///
    /// - Throws: ``ApiConnectorError`` of kind `.invalidRequest` or `.encodingFailed`.
    public func request(
        at route: RouterType,
        options: CallOptions = CallOptions()
    ) throws(ApiConnectorError) -> ApiRequest {
        try request(.route(route), options)
    }

    /// Like ``request(at:options:)``, for a URL that a server returned; see ``value(_:at:method:body:options:)``.
    @_disfavoredOverload
    public func request(
        at url: URL,
        method: HTTPMethod = .get,
        body: RequestBody = .empty,
        options: CallOptions = CallOptions()
    ) throws(ApiConnectorError) -> ApiRequest {
        try request(.url(url, method, body), options)
    }

    /// Like ``request(at:options:)``, for a call.
    public func request<Value>(
        _ call: ApiCall<RouterType, Value>,
        options: CallOptions = CallOptions()
    ) throws(ApiConnectorError) -> ApiRequest {
        try request(call.target, options)
    }

    private func request(
        _ target: CallTarget<RouterType>,
        _ options: CallOptions
    ) throws(ApiConnectorError) -> ApiRequest {
        let builder = RequestBuilder(settings: CallSettings(self, options))
        return try builder.complete(builder.draft(of: target, in: environment), .acceptingAnything)
    }

    /// Runs a call; the body of all calls that collect their response.
    ///
    /// Inlined, so that the stages are specialized for the result's type.
    ///
    /// - Parameter read: Converts the response to the call's result.
    @inline(__always)
    func perform<Output: Sendable>(
        _ target: CallTarget<RouterType>,
        _ options: CallOptions,
        _ fields: CallFields,
        _ read: @escaping @Sendable (ResponseReader) throws(ApiConnectorError) -> Output
    ) async throws(ApiConnectorError) -> Output {
        let pipeline = CallPipeline(self, options)
        return try await pipeline.run(pipeline.request(of: target, in: environment, accepting: fields), read)
    }
}
