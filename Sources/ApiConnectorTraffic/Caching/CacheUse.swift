// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// What one call wants of a cache, in a provider that is ``ApiConnector/DataRequestType/caching(in:maximumBodyByteCount:)``.
///
/// Without such a provider it changes nothing.
public enum CacheUse: Sendable, Hashable {
    /// What is stored, as long as it is fresh; otherwise the server's answer. The default.
    case standard

    /// The server's answer, which is stored; the server may say that what is stored is still good.
    case reload

    /// What is stored, however old, unless the server has forbidden that; the call fails with kind `.notCached` where
    /// there is nothing, and nothing is sent.
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
    /// What the caller wants of a cache; ``CacheUse/standard`` by default.
    public var cacheUse: CacheUse {
        get { values[CacheUseValue.self] }
        set { values[CacheUseValue.self] = newValue }
    }
}

extension CallOptions {
    /// What the call wants of a cache; ``CacheUse/standard`` by default.
    public var cacheUse: CacheUse {
        get { values[CacheUseValue.self] }
        set { values[CacheUseValue.self] = newValue }
    }

    /// Makes options for what the call wants of a cache; everything else comes from the connection.
    public init(cacheUse: CacheUse) {
        self.init()
        self.cacheUse = cacheUse
    }
}
