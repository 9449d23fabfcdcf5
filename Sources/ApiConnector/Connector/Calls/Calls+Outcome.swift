// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectionType {
    /// Sends a route's request and returns one of three outcomes; does not throw.
    ///
    /// - `.success`: the value.
    /// - `.backendFailure`: the body decodes as the router's failure, for any status.
    /// - `.failure`: anything else. Canceling the task ends the call immediately with kind `.cancelled`.
    @concurrent
    public func outcome<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        at route: RouterType,
        options: CallOptions = CallOptions()
    ) async -> ApiOutcome<Value, RouterType.EnvelopeType.Failure> {
        await find(type, .route(route), options)
    }

    /// Like ``outcome(_:at:options:)``, for a URL that a server returned; see ``value(_:at:method:body:options:)``.
    @concurrent
    @_disfavoredOverload
    public func outcome<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        at url: URL,
        method: HTTPMethod = .get,
        body: RequestBody = .empty,
        options: CallOptions = CallOptions()
    ) async -> ApiOutcome<Value, RouterType.EnvelopeType.Failure> {
        await find(type, .url(url, method, body), options)
    }

    /// Like ``outcome(_:at:options:)``, with an ``ApiCall``, whose value type is fixed.
    @concurrent
    public func outcome<Value: Decodable & Sendable>(
        _ call: ApiCall<RouterType, Value>,
        options: CallOptions = CallOptions()
    ) async -> ApiOutcome<Value, RouterType.EnvelopeType.Failure> {
        await find(Value.self, call.target, options)
    }

    private func find<Value: Decodable & Sendable>(
        _ type: Value.Type,
        _ target: CallTarget<RouterType>,
        _ options: CallOptions
    ) async -> ApiOutcome<Value, RouterType.EnvelopeType.Failure> {
        do throws(ApiConnectorError) {
            let pipeline = CallPipeline(self, options)
            return try await pipeline.run(pipeline.request(target.draft(in: environment), accepting: .acceptingJSON)) {
                (reader) throws(ApiConnectorError) in
                do throws(ApiConnectorError) {
                    return .success(try reader.read(type))
                } catch {
                    guard let failure: RouterType.EnvelopeType.Failure = error.failure() else { throw error }
                    return .backendFailure(failure, reader.response.head)
                }
            }
        } catch {
            return .failure(error)
        }
    }
}
