// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectionType {
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
        try await load(.route(route), options)
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
        try await load(.url(url, method, body), options)
    }

    private func load(
        _ target: CallTarget<RouterType>,
        _ options: CallOptions
    ) async throws(ApiConnectorError) -> Data {
        let pipeline = CallPipeline(self, options)
        return try await pipeline.run(pipeline.request(target.draft(in: environment), accepting: .acceptingAnything)) {
            (reader) throws(ApiConnectorError) in
            try reader.check()
            return reader.body
        }
    }
}
