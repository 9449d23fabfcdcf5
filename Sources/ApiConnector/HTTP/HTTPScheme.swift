// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The two schemes of HTTP (RFC 9110, section 4.2).
public enum HTTPScheme: String, Sendable, Hashable, CaseIterable {
    /// Without encryption; port 80 by default.
    case http

    /// Over TLS; port 443 by default.
    case https

    /// The port of a URL without a port: 80 or 443.
    public var defaultPort: Int {
        switch self {
        case .http: 80
        case .https: 443
        }
    }
}
