// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectionType {
    /// What a cache has of a route, if it has something, however old; then the server's answer.
    ///
    /// ```swift
    /// for try await news in api.cachedThenFresh([Post].self, at: .posts) { show(news.value) }
    /// ```
    ///
    /// It is for a connection whose provider is ``DataRequestType/cached(in:maximumBodyByteCount:)``; without one, and
    /// for other methods than GET and HEAD, there is the server's answer alone. ``DecodedResponse/cacheHit`` tells
    /// which is which. Something stored that does not decode any more is left out. Cold as every stream: each loop asks
    /// anew, and leaving it cancels the call.
    ///
    /// - Parameters:
    ///   - type: What to decode; left out where the context names it.
    ///   - route: What to ask for.
    ///   - options: What this call wants otherwise than its connection; their ``CallOptions/cacheUse`` has no effect.
    public func cachedThenFresh<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        at route: RouterType,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<DecodedResponse<Value>> {
        ResponseStream(source: { CachedThenFresh(self, .route(route), options) })
    }

    /// As ``cachedThenFresh(_:at:options:)``, with a call that fixes the type.
    public func cachedThenFresh<Value: Decodable & Sendable>(
        _ call: ApiCall<RouterType, Value>,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<DecodedResponse<Value>> {
        ResponseStream(source: { CachedThenFresh(self, call.target, options) })
    }
}

/// One loop over what a cache has and what the server answers.
private final class CachedThenFresh<Connection: ApiConnectionType, Value: Decodable & Sendable>: BatchSource {
    private enum Step: Sendable {
        case cached, fresh, over
    }

    private let connection: Connection
    private let target: CallTarget<Connection.RouterType>
    private let options: CallOptions
    private let step = Locked(Step.cached)

    init(_ connection: Connection, _ target: CallTarget<Connection.RouterType>, _ options: CallOptions) {
        self.connection = connection
        self.target = target
        self.options = options
    }

    @concurrent
    func nextBatch() async throws(ApiConnectorError) -> [DecodedResponse<Value>] {
        if advance(from: .cached, to: .fresh), let cached = try await cached() {
            // Without a cache in between, this was the server's answer.
            if cached.cacheHit == nil { advance(from: .fresh, to: .over) }
            return [cached]
        }
        guard advance(from: .fresh, to: .over) else { return [] }
        return [try await ask(.fresh)]
    }

    private func cached() async throws(ApiConnectorError) -> DecodedResponse<Value>? {
        let method = try CallPipeline(connection, options)
            .request(target.draft(in: connection.environment), accepting: .acceptingJSON).method
        guard method == .get || method == .head else { return nil }
        do throws(ApiConnectorError) {
            return try await ask(.cached)
        } catch {
            // What there is may be of no use, such as by its status or to the model of today.
            guard error.kind == .notCached || error.stage != .provider else { throw error }
            return nil
        }
    }

    private func ask(_ use: CacheUse) async throws(ApiConnectorError) -> DecodedResponse<Value> {
        var options = options
        options.cacheUse = use
        return try await CallPipeline(connection, options)
            .run(target.draft(in: connection.environment), accepting: .acceptingJSON) {
                (reader) throws(ApiConnectorError) in
                DecodedResponse(value: try reader.read(Value.self), head: reader.response.head)
            }
    }

    @discardableResult
    private func advance(from one: Step, to next: Step) -> Bool {
        step.withLock { step in
            guard step == one else { return false }
            step = next
            return true
        }
    }
}
