// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The header fields of an ``ApiRouter``.
public protocol HeaderRouting: Sendable {
    /// The declared type of the header fields: ``HTTPHeaders`` or `[String: String]`, optional or not.
    associatedtype HeadersType = HTTPHeaders

    // See NotARoute.swift.
    @_documentation(visibility: internal) @_disfavoredOverload static var headers: NotARoute { get }

    /// Header fields of this endpoint, which override those of the environment; none by default.
    var headers: HeadersType { get }
}

extension HeaderRouting {
    /// Not a route.
    @_documentation(visibility: internal) @_disfavoredOverload public static var headers: NotARoute { NotARoute() }

    /// No fields.
    public var headers: HTTPHeaders { HTTPHeaders() }
}
