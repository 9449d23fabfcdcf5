// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The request body of an ``ApiRouter``.
public protocol BodyRouting: Sendable {
    /// The declared type of the body: ``RequestBody`` or `Data`, optional or not.
    associatedtype BodyType = RequestBody

    // See NotARoute.swift.
    @_documentation(visibility: internal) @_disfavoredOverload static var body: NotARoute { get }

    /// The body of the request; ``RequestBody/empty`` by default.
    var body: BodyType { get }
}

extension BodyRouting {
    /// Not a route.
    @_documentation(visibility: internal) @_disfavoredOverload public static var body: NotARoute { NotARoute() }

    /// No body.
    public var body: RequestBody { .empty }
}
