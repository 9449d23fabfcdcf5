// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A router for the operations of an OpenAPI document, with one route per operation.
///
/// Generated routers conform to it. You can also make a route for an operation that the document does not have:
///
/// ```swift
/// extension ApiCall where Router == PetsRouter {
///     static func count(of kind: Kind) -> ApiCall<Router, Int> {
///         .init(.get, "/pets/\(kind)/count", query: [.form("exact", true)])
///     }
/// }
/// ```
public nonisolated protocol OperationRouter: ApiRouter
where PathType == ApiPath, QueryType == ApiQuery, MethodType == HTTPMethod {
    /// The request.
    var parts: RouteParts { get }

    /// Makes a route from a request.
    init(parts: RouteParts)
}

extension OperationRouter {
    /// Makes a route.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path, with the values of its parameters; see ``RouteParts/Path``.
    ///   - query: The parameters in the query. By default, there are none.
    ///   - headers: The parameters in header fields and cookies. By default, there are none.
    ///   - body: The request body. By default, it is empty.
    ///   - security: The names of the security schemes that ``OperationCredentials`` uses, as alternatives of one or more
    ///     schemes. By default, it uses the schemes of the whole document.
    public init(
        _ method: HTTPMethod,
        _ path: RouteParts.Path,
        query: [RouteParts.QueryParameter] = [],
        headers: [RouteParts.HeaderParameter] = [],
        body: RequestBody = .empty,
        security: [[String]]? = nil
    ) {
        self.init(parts: RouteParts(method, path, query, headers, body, security))
    }

    /// The path.
    public var path: ApiPath { parts.path }

    /// The query.
    public var queryItems: ApiQuery { parts.query }

    /// The method.
    public var method: HTTPMethod { parts.method }

    /// The header fields.
    public var headers: HTTPHeaders { parts.headers }

    /// The request body.
    public var body: RequestBody { parts.body }
}

extension ApiCall where Router: OperationRouter {
    /// Makes a call of a route.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path, with the values of its parameters; see ``RouteParts/Path``.
    ///   - query: The parameters in the query. By default, there are none.
    ///   - headers: The parameters in header fields and cookies. By default, there are none.
    ///   - body: The request body. By default, it is empty.
    ///   - security: The names of the security schemes that ``OperationCredentials`` uses, as alternatives of one or more
    ///     schemes. By default, it uses the schemes of the whole document.
    public init(
        _ method: HTTPMethod,
        _ path: RouteParts.Path,
        query: [RouteParts.QueryParameter] = [],
        headers: [RouteParts.HeaderParameter] = [],
        body: RequestBody = .empty,
        security: [[String]]? = nil
    ) {
        self.init(Router(parts: RouteParts(method, path, query, headers, body, security)))
    }
}

extension NextPage where Router: OperationRouter {
    /// The next page has the URL of this page with another cursor in its query.
    ///
    /// - Parameters:
    ///   - name: The name of the query item with the cursor.
    ///   - cursor: A function that returns the cursor in this page. The list ends if it returns nil or an empty text.
    public static func cursor(
        _ name: String,
        _ cursor: @escaping @Sendable (DecodedResponse<Page>) -> String?
    ) -> NextPage {
        url { page in
            guard let next = cursor(page), !next.isEmpty,
                var url = URLComponents(url: page.url, resolvingAgainstBaseURL: true)
            else { return nil }
            // The other items stay as they are, because a decoded `+` would be read as a space.
            let key = percentEncoded(name)
            let others = (url.percentEncodedQueryItems ?? []).filter { $0.name.removingPercentEncoding != name }
            url.percentEncodedQueryItems = others + [URLQueryItem(name: key, value: percentEncoded(next))]
            return url.url
        }
    }
}
