// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A type that a router can use for its query: ``ApiQuery``, `[URLQueryItem]` or `[String: String]`, optional or not.
public protocol ApiQueryConvertible {
    /// The query.
    var apiQuery: ApiQuery { get }
}
