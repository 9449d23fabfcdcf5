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
        try CallPipeline(self, options).request(
            .init(of: route, at: RouteURL(of: route, in: environment), in: environment),
            accepting: .acceptingAnything
        )
    }

    /// Like ``request(at:options:)``, for a call.
    public func request<Value>(
        _ call: ApiCall<RouterType, Value>,
        options: CallOptions = CallOptions()
    ) throws(ApiConnectorError) -> ApiRequest {
        try CallPipeline(self, options).request(call.target.draft(in: environment), accepting: .acceptingAnything)
    }
}
