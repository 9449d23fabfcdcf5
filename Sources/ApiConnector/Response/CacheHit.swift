// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Where the body of an answer came from that did not come from the server.
///
/// Any cache may say it, one of your own too. So it is here, and not in the module `ApiConnectorTraffic`.
public enum CacheHit: String, Sendable, Hashable, CustomStringConvertible {
    /// From the cache, and as fresh as the server wants it; the server was not asked.
    case fresh
    /// From the cache, where it was older, which the server, the call or a failure of the server's allowed.
    case stale
    /// From the cache; the server was asked, and said that it is still good.
    case validated

    /// The name of the case.
    public var description: String { rawValue }
}
