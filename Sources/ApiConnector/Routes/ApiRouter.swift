// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The endpoints of a backend, with the properties of their requests.
///
/// An enum with `String` raw values needs no `path`: the raw value is the path.
///
/// ```swift
/// enum Router: ApiRouter {
///     typealias EnvironmentType = Environment
///     case me
///     case post(author: String, slug: String)
///
///     var path: ApiPath {
///         switch self {
///         case .me: "/me"
///         case .post(let author, let slug): "/authors/\(author)/posts/\(slug)"
///         }
///     }
/// }
/// ```
public protocol ApiRouter: PathRouting, QueryRouting, MethodRouting, HeaderRouting, BodyRouting {
    /// The type of the backend's environment.
    associatedtype EnvironmentType: ApiEnvironment

    /// How the backend wraps its values and reports its own errors; ``BareEnvelope`` without a failure by default.
    associatedtype EnvelopeType: ApiEnvelope = BareEnvelope<NoFailure>

    /// Whether a GET of this endpoint may have a body; false by default.
    ///
    /// If it is false, a connection refuses such a request, because the router probably forgot to set the method. Many
    /// servers and proxies ignore the body of a GET. The method for a query in a body is ``HTTPMethod/query``.
    var allowsBodyInGet: Bool { get }
}

extension ApiRouter {
    /// False.
    public var allowsBodyInGet: Bool { false }

    /// The URL of this endpoint in an environment.
    ///
    /// The host, the path and the query can be any text. The decoded parts of the URL equal that text, and the path has
    /// as many segments as the router wrote. A route that must not be sent, for example one without a host or with a
    /// segment `..`, also has a URL. A connection refuses to send it.
    ///
    /// - Complexity: O(*n*) in the length of the URL.
    @inlinable public func url(for environment: EnvironmentType) -> URL {
        RouteURL(of: self, in: environment).url
    }
}

extension ApiRouter where Self: RawRepresentable, RawValue == String {
    /// The raw value.
    @inlinable public var path: String { rawValue }
}

extension ApiRouter {
    /// The name of this endpoint in logs and metrics, which contains no values.
    ///
    /// - For an ``ApiPath`` or a custom path type, it is the path with `{}` for each value, such as
    ///   `/authors/{}/posts/{}`.
    /// - For a `String` path, in which values cannot be recognized, it is the name of the enum case. If the router is
    ///   not an enum, it is the name of its type.
    var routeName: String {
        if PathType.self != String.self { return path.apiPath.template }
        let mirror = Mirror(reflecting: self)
        guard mirror.displayStyle == .enum else { return String(describing: Self.self) }
        return mirror.children.first?.label ?? String(describing: self)
    }
}
