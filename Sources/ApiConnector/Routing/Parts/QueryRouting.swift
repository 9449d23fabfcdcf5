// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The query of an ``ApiRouter``.
public protocol QueryRouting: Sendable {
    /// The declared type of the query: ``ApiQuery``, `[URLQueryItem]` or `[String: String]`, optional or not.
    associatedtype QueryType = [URLQueryItem]?

    // See NotARoute.swift.
    @_documentation(visibility: internal) @_disfavoredOverload static var queryItems: NotARoute { get }

    /// The names and values of the query, in order; nil by default.
    ///
    /// If the query is nil or has no items, the URL has no `?`.
    ///
    /// An item without a value is written as its name only. Use ``ApiQuery`` to encode an `Encodable` value.
    var queryItems: QueryType { get }
}

extension QueryRouting {
    /// Not a route.
    @_documentation(visibility: internal) @_disfavoredOverload public static var queryItems: NotARoute { NotARoute() }

    /// No query.
    @inlinable public var queryItems: [URLQueryItem]? { nil }
}
