// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The path of an ``ApiRouter``.
public protocol PathRouting: Sendable {
    /// The declared type of the path: `String` or ``ApiPath``.
    associatedtype PathType: ApiPathConvertible = String

    // See NotARoute.
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

/// The query of an ``ApiRouter``.
public protocol QueryRouting: Sendable {
    /// The declared type of the query: ``ApiQuery``, `[URLQueryItem]` or `[String: String]`, optional or not.
    associatedtype QueryType = [URLQueryItem]?

    // See NotARoute.
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

/// The method of an ``ApiRouter``.
public protocol MethodRouting: Sendable {
    /// The declared type of the method: ``HTTPMethod`` or `String`, optional or not.
    associatedtype MethodType = HTTPMethod

    // See NotARoute.
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

/// The header fields of an ``ApiRouter``.
public protocol HeaderRouting: Sendable {
    /// The declared type of the header fields: ``HTTPHeaders`` or `[String: String]`, optional or not.
    associatedtype HeadersType = HTTPHeaders

    // See NotARoute.
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

/// The request body of an ``ApiRouter``.
public protocol BodyRouting: Sendable {
    /// The declared type of the body: ``RequestBody`` or `Data`, optional or not.
    associatedtype BodyType = RequestBody

    // See NotARoute.
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

// This works around a crash of Swift 6.3. It crashes when it infers the type of a property under two conditions: the
// router has an enum case of that name without values, and the compiler has not read the type of that case before.
//
// Each property with an associated type has its own protocol, because the compiler infers the types of all properties
// of one protocol together. Each of these protocols also has a static member with the name of the property. To find
// this member, the compiler reads the case first.
//
// The associated types of the query, the method, the fields and the body are unconstrained. With a constraint, the
// compiler would silently use the default for a property of any other type. A property that cannot be converted is
// refused when the request is sent.

/// The type of `Router.body` if the router has no case of that name.
///
/// The compiler mentions this type if a call uses a property of ``ApiRouter`` instead of a route.
public struct NotARoute: Sendable {
    init() {}
}
