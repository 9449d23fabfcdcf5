// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectionType {
    /// Sends a route's request, and only checks that the answer is acceptable and no error of the backend's own.
    ///
    /// Canceling the task ends the call at once with kind `.cancelled`; the server may have done the work all the
    /// same.
    ///
    /// - Throws: ``ApiConnectorError``.
    @concurrent
    public func send(at route: RouterType, options: CallOptions = CallOptions()) async throws(ApiConnectorError) {
        try await deliver(.route(route), options)
    }

    /// As ``send(at:options:)``, at a URL that a server returned; see ``value(_:at:method:body:options:)``.
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

    /// As ``send(at:options:)``, with a call that has no value.
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
