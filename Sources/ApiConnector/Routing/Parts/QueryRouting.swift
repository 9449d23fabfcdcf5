// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The query of an ``ApiRouter``.
public protocol QueryRouting: Sendable {
    /// What the query is written as: ``ApiQuery``, `[URLQueryItem]` or `[String: String]`, optional or not.
    associatedtype QueryType = [URLQueryItem]?

    // See NotARoute.swift.
    @_documentation(visibility: internal) @_disfavoredOverload static var queryItems: NotARoute { get }

    /// The query's names and values, in order; nil, the default, and none at all mean no `?`.
    ///
    /// An item without a value is written as its name alone. As ``ApiQuery`` it can be made of an `Encodable` value.
    var queryItems: QueryType { get }
}

extension QueryRouting {
    /// Not a route.
    @_documentation(visibility: internal) @_disfavoredOverload public static var queryItems: NotARoute { NotARoute() }

    /// No query.
    @inlinable public var queryItems: [URLQueryItem]? { nil }
}
