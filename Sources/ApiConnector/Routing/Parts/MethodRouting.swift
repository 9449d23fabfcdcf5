// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The method of an ``ApiRouter``.
public protocol MethodRouting: Sendable {
    /// The declared type of the method: ``HTTPMethod`` or `String`, optional or not.
    associatedtype MethodType = HTTPMethod

    // See NotARoute.swift.
    @_documentation(visibility: internal) @_disfavoredOverload static var method: NotARoute { get }

    /// The method; ``HTTPMethod/get`` by default.
    var method: MethodType { get }
}

extension MethodRouting {
    /// Not a route.
    @_documentation(visibility: internal) @_disfavoredOverload public static var method: NotARoute { NotARoute() }

    /// GET.
    public var method: HTTPMethod { .get }
}
