// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A type that a router can use for its path: ``ApiPath`` or `String`.
public protocol ApiPathConvertible {
    /// The value as a path.
    var apiPath: ApiPath { get }
}
