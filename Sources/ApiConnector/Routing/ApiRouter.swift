// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The endpoints of one backend: what each is called, and what a request to it looks like.
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
    /// Where the backend can be.
    associatedtype EnvironmentType: ApiEnvironment

    /// How the backend wraps its values and reports its own errors; ``BareEnvelope`` without a failure by default.
    associatedtype EnvelopeType: ApiEnvelope = BareEnvelope<NoFailure>

    /// Whether a GET of this endpoint may have a body; false by default.
    ///
    /// A connection refuses such a request otherwise, because as a rule the method was forgotten. Many servers and
    /// proxies ignore the body of a GET; ``HTTPMethod/query`` is the method for a query in a body.
    var allowsBodyInGet: Bool { get }
}

extension ApiRouter {
    /// No.
    public var allowsBodyInGet: Bool { false }

    /// The URL of this endpoint in an environment.
    ///
    /// Total: every text in host, path and query gives a URL whose decoded parts are that text, with as many path
    /// segments as the router wrote. What must not be sent all the same (no host, a segment `..`) is refused by the
    /// connection, not here.
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
    /// What this endpoint is called in logs and metrics: low in cardinality, never a value.
    ///
    /// An ``ApiPath``'s own text with `{}` for each value, such as `/authors/{}/posts/{}`, and so for a path type of
    /// one's own; for a `String` path, whose values cannot be told apart, the enum case's name, or the type's name
    /// where the router is no enum.
    var routeName: String {
        if PathType.self != String.self { return path.apiPath.template }
        let mirror = Mirror(reflecting: self)
        guard mirror.displayStyle == .enum else { return String(describing: Self.self) }
        return mirror.children.first?.label ?? String(describing: self)
    }
}
