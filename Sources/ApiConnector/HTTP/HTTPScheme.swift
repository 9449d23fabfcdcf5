// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The two schemes of HTTP (RFC 9110, section 4.2).
public enum HTTPScheme: String, Sendable, Hashable, CaseIterable {
    /// Without encryption; port 80 unless another is named.
    case http

    /// Over TLS; port 443 unless another is named.
    case https

    /// The port that is meant where none is written: 80 or 443.
    public var defaultPort: Int {
        switch self {
        case .http: 80
        case .https: 443
        }
    }
}
