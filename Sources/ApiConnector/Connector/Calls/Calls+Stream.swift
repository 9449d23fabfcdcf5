// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectionType {
    /// The value of a route as a stream: sent when it is iterated, and again when it is iterated again.
    ///
    /// Nothing is sent before. Cancelling the task that iterates ends the call at once with kind `.cancelled`.
    public func stream<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        at route: RouterType,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<Value> {
        ResponseStream { () async throws(ApiConnectorError) in try await value(type, at: route, options: options) }
    }

    /// As ``stream(of:at:options:)``, at a URL that a server handed out; see ``value(_:at:method:body:options:)``.
    public func stream<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        at url: URL,
        method: HTTPMethod = .get,
        body: RequestBody = .empty,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<Value> {
        ResponseStream { () async throws(ApiConnectorError) in
            try await value(type, at: url, method: method, body: body, options: options)
        }
    }

    /// As ``stream(of:at:options:)``, with a call that fixes the type.
    public func stream<Value: Decodable & Sendable>(
        _ call: ApiCall<RouterType, Value>,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<Value> {
        ResponseStream { () async throws(ApiConnectorError) in try await value(call, options: options) }
    }
}
