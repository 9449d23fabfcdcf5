// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

extension ApiConnectionType {
    /// What a cache has of a route, if it has something, however old; then the server's answer.
    ///
    /// ```swift
    /// for try await news in api.cachedThenReloaded([Post].self, at: .posts) { show(news.value) }
    /// ```
    ///
    /// It is for a connection whose provider is ``ApiConnector/DataRequestType/caching(in:maximumBodyByteCount:)``; without
    /// one, and for other methods than GET and HEAD, there is the server's answer alone.
    /// ``/ApiConnector/DecodedResponse/cacheHit`` tells which is which. Something stored that does not decode any more is
    /// left out. Cold as every stream: each loop asks again, and leaving it cancels the call.
    ///
    /// - Parameters:
    ///   - type: What to decode; left out where the context names it.
    ///   - route: What to ask for.
    ///   - options: What this call wants otherwise than its connection; their ``ApiConnector/CallOptions/cacheUse`` has no
    ///     effect.
    public func cachedThenReloaded<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        at route: RouterType,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<DecodedResponse<Value>> {
        stream(options) { (options) throws(ApiConnectorError) in
            try await response(of: type, at: route, options: options)
        }
    }

    /// As ``cachedThenReloaded(_:at:options:)``, with a call that fixes the type.
    public func cachedThenReloaded<Value: Decodable & Sendable>(
        _ call: ApiCall<RouterType, Value>,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<DecodedResponse<Value>> {
        stream(options) { (options) throws(ApiConnectorError) in try await response(call, options: options) }
    }

    private func stream<Value: Sendable>(
        _ options: CallOptions,
        _ send: @escaping @Sendable (CallOptions) async throws(ApiConnectorError) -> DecodedResponse<Value>
    ) -> ResponseStream<DecodedResponse<Value>> {
        ResponseStream(unfolding: {
            let loop = CachedThenFresh(options, send)
            return { () throws(ApiConnectorError) in try await loop.next() }
        })
    }
}

/// One loop over what a cache has and what the server answers.
private final class CachedThenFresh<Value: Sendable>: Sendable {
    typealias Send = @Sendable (CallOptions) async throws(ApiConnectorError) -> DecodedResponse<Value>

    private enum Step: Sendable {
        case cached, fresh, over
    }

    private let options: CallOptions
    private let send: Send
    private let step = Protected(Step.cached)

    init(_ options: CallOptions, _ send: @escaping Send) {
        self.options = options
        self.send = send
    }

    func next() async throws(ApiConnectorError) -> DecodedResponse<Value>? {
        if advance(from: .cached, to: .fresh), let cached = try await cached() {
            // Without a cache in between, this was the server's answer.
            if cached.cacheHit == nil { advance(from: .fresh, to: .over) }
            return cached
        }
        guard advance(from: .fresh, to: .over) else { return nil }
        return try await ask(.reload)
    }

    private func cached() async throws(ApiConnectorError) -> DecodedResponse<Value>? {
        do throws(ApiConnectorError) {
            return try await ask(.cached)
        } catch {
            if error.kind == .notCached { return nil }
            // What is stored may be of no use, such as by its status or to the model of today. Only a request that reads
            // may be sent again.
            guard error.stage != .provider, let method = error.request?.method, method == .get || method == .head else {
                throw error
            }
            return nil
        }
    }

    private func ask(_ use: CacheUse) async throws(ApiConnectorError) -> DecodedResponse<Value> {
        var options = options
        options.cacheUse = use
        options.values[IsSentIfUncacheable.self] = use == .cached
        return try await send(options)
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
