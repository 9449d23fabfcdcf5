// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The code that the generated routers and models share, as text.
///
/// The access level replaces `<public>`. If there are several modules, `package` replaces `<shared>`.
enum SupportSource {
    static let routes = """
        /// The parts of one request.
        <public>nonisolated struct RouteParts: Sendable {
            fileprivate let method: HTTPMethod
            fileprivate let path: ApiPath
            fileprivate let query: ApiQuery
            fileprivate let headers: HTTPHeaders
            fileprivate let body: RequestBody
            let security: [[SecurityScheme]]?

            fileprivate init(
                _ method: HTTPMethod,
                _ path: RoutePath,
                _ query: [QueryPart],
                _ headers: [HeaderPart],
                _ body: RequestBody,
                _ security: [[SecurityScheme]]?
            ) {
                self.method = method
                self.path = path.path
                let failure =
                    path.failure ?? query.compactMap(\\.failure).first ?? headers.compactMap(\\.failure).first
                // A connection refuses a route whose query does not encode, with the error of the value.
                self.query = failure.map { ApiQuery.encoding($0) } ?? QueryPart.joined(query)
                var fields = HTTPHeaders()
                let cookies = headers.flatMap(\\.cookies)
                for part in headers {
                    if let text = part.text { fields.append(HTTPHeaders.Name(part.name), text) }
                }
                if !cookies.isEmpty { fields.append(.cookie, cookies.joined(separator: "; ")) }
                self.headers = fields
                self.body = body
                self.security = security
            }
        }

        /// A security scheme, by its name in the document.
        <public>nonisolated struct SecurityScheme: Hashable, Sendable {
            let name: String

            init(_ name: String) {
                self.name = name
            }
        }

        /// A router for the requests of one tag of the document.
        <public>nonisolated protocol OperationRouter: ApiRouter
        where PathType == ApiPath, QueryType == ApiQuery, MethodType == HTTPMethod {
            /// The request.
            var parts: RouteParts { get }

            /// Makes a route from a request.
            init(parts: RouteParts)
        }

        nonisolated extension OperationRouter {
            <shared>init(
                _ method: HTTPMethod,
                _ path: RoutePath,
                query: [QueryPart] = [],
                headers: [HeaderPart] = [],
                body: RequestBody = .empty,
                security: [[SecurityScheme]]? = nil
            ) {
                self.init(parts: RouteParts(method, path, query, headers, body, security))
            }

            /// The path.
            <public>var path: ApiPath { parts.path }

            /// The query.
            <public>var queryItems: ApiQuery { parts.query }

            /// The method.
            <public>var method: HTTPMethod { parts.method }

            /// The header fields.
            <public>var headers: HTTPHeaders { parts.headers }

            /// The request body.
            <public>var body: RequestBody { parts.body }
        }

        nonisolated extension ApiCall where Router: OperationRouter {
            <shared>init(
                _ method: HTTPMethod,
                _ path: RoutePath,
                query: [QueryPart] = [],
                headers: [HeaderPart] = [],
                body: RequestBody = .empty,
                security: [[SecurityScheme]]? = nil
            ) {
                self.init(Router(parts: RouteParts(method, path, query, headers, body, security)))
            }
        }

        nonisolated extension NextPage where Router: OperationRouter {
            /// The next page, whose query has the cursor that the closure takes from this page; nil ends the list.
            <public>static func cursor(
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
        """
}
