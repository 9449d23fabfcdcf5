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
