// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The path of an ``ApiRouter``.
public protocol PathRouting: Sendable {
    /// The declared type of the path: `String` or ``ApiPath``.
    associatedtype PathType: ApiPathConvertible = String

    // See NotARoute.swift.
    @_documentation(visibility: internal) @_disfavoredOverload static var path: NotARoute { get }

    /// The path after the environment's base path; a missing leading slash is added.
    ///
    /// In an ``ApiPath``, each interpolated value stays within its segment. In a `String`, slashes separate the
    /// segments, and `?`, `#` and `%` are data and are encoded.
    var path: PathType { get }
}

extension PathRouting {
    /// Not a route.
    @_documentation(visibility: internal) @_disfavoredOverload public static var path: NotARoute { NotARoute() }
}
