// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectionType {
    /// The URL of a route in this connection's environment, as ``ApiRouter/url(for:)`` builds it; sends nothing.
    ///
    /// The connection's encoder writes the dates in the query.
    public func url(at route: RouterType) -> URL {
        let url = RouteURL(of: route, in: environment)
        guard let dated = url.dated else { return url.url }
        return dated.written(with: configuration.coders.encoder).url
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
        try CallPipeline(self, options).request(target.draft(in: environment), accepting: .acceptingAnything)
    }
}
