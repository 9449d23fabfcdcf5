// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What a router may write its path as: ``ApiPath``, or `String` as in the library of 2016.
public protocol ApiPathConvertible {
    /// The path, encoded.
    var apiPath: ApiPath { get }
}
