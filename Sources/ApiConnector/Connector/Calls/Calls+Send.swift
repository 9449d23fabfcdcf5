// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectionType {
    /// Sends a route's request and checks the response, without decoding a value.
    ///
    /// Throws for a response that fails validation or that contains the backend's own error. Canceling the task ends
    /// the call immediately with kind `.cancelled`. After a cancellation, the server may still process the request.
    ///
    /// - Throws: ``ApiConnectorError``.
    @concurrent
    public func send(at route: RouterType, options: CallOptions = CallOptions()) async throws(ApiConnectorError) {
        try await deliver(.route(route), options)
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
        try await deliver(.url(url, method, body), options)
    }

    /// Like ``send(at:options:)``, with a call that has no value.
    @concurrent
    public func send(
        _ call: ApiCall<RouterType, Void>,
        options: CallOptions = CallOptions()
    ) async throws(ApiConnectorError) {
        try await deliver(call.target, options)
    }

    private func deliver(_ target: CallTarget<RouterType>, _ options: CallOptions) async throws(ApiConnectorError) {
        let pipeline = CallPipeline(self, options)
        try await pipeline.run(pipeline.request(target.draft(in: environment), accepting: .acceptingAnything)) {
            (reader) throws(ApiConnectorError) in
            try reader.check()
        }
    }
}
