// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// How one call uses the cache of a provider that is wrapped with
/// ``ApiConnector/DataRequestType/caching(in:maximumBodyByteCount:)``.
///
/// It has no effect on a provider without a cache.
public enum CacheUse: Sendable, Hashable {
    /// A fresh stored response, otherwise the server's response. The default.
    case standard

    /// The server's response, which is then stored. The stored response is used if the server confirms it.
    case reload

    /// A stored response, however old, unless the server has forbidden that. If there is none, the call fails with kind
    /// `.notCached`. No request is sent.
    case cached
}

private enum CacheUseValue: RequestValueKey {
    static let defaultValue = CacheUse.standard
}

/// Whether ``CacheUse/cached`` sends a request that no cache can answer, such as a POST; `cachedThenReloaded` sets it.
enum IsSentIfUncacheable: RequestValueKey {
    static let defaultValue = false
}

extension ApiRequest {
    /// How the caller uses the cache; ``CacheUse/standard`` by default.
    public var cacheUse: CacheUse {
        get { values[CacheUseValue.self] }
        set { values[CacheUseValue.self] = newValue }
    }
}

extension CallOptions {
    /// How the call uses the cache; ``CacheUse/standard`` by default.
    public var cacheUse: CacheUse {
        get { values[CacheUseValue.self] }
        set { values[CacheUseValue.self] = newValue }
    }

    /// Makes options with a cache use; all other options come from the connection.
    public init(cacheUse: CacheUse) {
        self.init()
        self.cacheUse = cacheUse
    }
}

extension ApiConnectionType {
    /// Yields the cached response of a route, however old, and then the server's response.
    ///
    /// ```swift
    /// for try await news in api.cachedThenReloaded([Post].self, at: .posts) { show(news.value) }
    /// ```
    ///
    /// The connection's provider must be wrapped with
    /// ``ApiConnector/DataRequestType/caching(in:maximumBodyByteCount:)``.
    ///
    /// - ``/ApiConnector/DecodedResponse/cacheHit`` is nil or `.validated` for the server's response.
    /// - Without a cache or a stored response, and for methods other than GET and HEAD, the stream yields only the
    ///   server's response.
    /// - A stored response that no longer decodes is skipped.
    /// - The stream is cold: each loop sends a request, and leaving the loop cancels the call.
    /// - A GET or HEAD with a cache makes two requests from the route: one for the cache, and one for the server.
    ///
    /// - Parameters:
    ///   - type: The type to decode; inferred if left out.
    ///   - route: The route.
    ///   - options: Options that override the connection's; their ``ApiConnector/CallOptions/cacheUse`` has no effect.
    public func cachedThenReloaded<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        at route: RouterType,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<DecodedResponse<Value>> {
        stream(options) { (options) throws(ApiConnectorError) in
            try await response(of: type, at: route, options: options)
        }
    }

    /// Like ``cachedThenReloaded(_:at:options:)``, for a URL that a server returned.
    @_disfavoredOverload
    public func cachedThenReloaded<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        at url: URL,
        method: HTTPMethod = .get,
        body: RequestBody = .empty,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<DecodedResponse<Value>> {
        stream(options) { (options) throws(ApiConnectorError) in
            try await response(of: type, at: url, method: method, body: body, options: options)
        }
    }

    /// Yields the cached value of a call and then the server's, as ``cachedThenReloaded(_:at:options:)`` does.
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
            let loop = CachedThenReloaded(options, send)
            return { () throws(ApiConnectorError) in try await loop.next() }
        })
    }
}

/// One loop over the cached response and the server's response.
private final class CachedThenReloaded<Value: Sendable>: Sendable {
    typealias Send = @Sendable (CallOptions) async throws(ApiConnectorError) -> DecodedResponse<Value>

    private enum Step: Sendable {
        case cached, reloaded, over
    }

    private let options: CallOptions
    private let send: Send
    private let step = Protected(Step.cached)

    init(_ options: CallOptions, _ send: @escaping Send) {
        self.options = options
        self.send = send
    }

    func next() async throws(ApiConnectorError) -> DecodedResponse<Value>? {
        if advance(from: .cached, to: .reloaded), let cached = try await cached() {
            // Without a cache, this is already the server's response.
            if cached.cacheHit == nil { advance(from: .reloaded, to: .over) }
            return cached
        }
        guard advance(from: .reloaded, to: .over) else { return nil }
        return try await ask(.reload)
    }

    private func cached() async throws(ApiConnectorError) -> DecodedResponse<Value>? {
        do throws(ApiConnectorError) {
            return try await ask(.cached)
        } catch {
            if error.kind == .notCached { return nil }
            // The stored response may be unusable: its status may fail validation, or its body may not decode as the
            // current model. Only GET and HEAD may be sent again.
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
