// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A type that a router can use for its path: ``ApiPath`` or `String`.
public protocol ApiPathConvertible {
    /// The encoded path.
    var apiPath: ApiPath { get }
}
