// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A type that a router can use for its query: ``ApiQuery``, or query items as in the library of 2016, optional or not.
public protocol ApiQueryConvertible {
    /// The query.
    var apiQuery: ApiQuery { get }
}
