// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The path of an ``ApiRouter``.
public protocol PathRouting: Sendable {
    /// What the path is written as: `String` or ``ApiPath``.
    associatedtype PathType: ApiPathConvertible = String

    // See NotARoute.swift.
    @_documentation(visibility: internal) @_disfavoredOverload static var path: NotARoute { get }

    /// The path behind the environment's base path; a missing slash in front is added.
    ///
    /// As ``ApiPath`` each interpolated value stays within its segment. As `String` the text is split at its
    /// slashes alone: `?`, `#` and `%` are data and are encoded.
    var path: PathType { get }
}

extension PathRouting {
    /// Not a route.
    @_documentation(visibility: internal) @_disfavoredOverload public static var path: NotARoute { NotARoute() }
}
