// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// How a cache was used for a response whose body did not come from the server.
///
/// Any cache can set it, including your own, so it is not part of the module `ApiConnectorTraffic`.
public enum CacheHit: String, Sendable, Hashable, CustomStringConvertible {
    /// The cached response was fresh; no request was sent.
    case fresh
    /// The cached response was stale, but the server, the call or a failure of the server allowed its use.
    case stale
    /// The cached response was revalidated: the server confirmed that it is still valid.
    case validated

    /// The name of the case.
    public var description: String { rawValue }
}
