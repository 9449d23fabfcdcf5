// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What a call asks: one of the router's endpoints, or a URL that a server handed out.
enum CallTarget<Router: ApiRouter>: Sendable {
    case route(Router)
    case url(URL, HTTPMethod, RequestBody)

    /// The request before header fields and body are completed.
    func draft(in environment: Router.EnvironmentType) throws(ApiConnectorError) -> ApiRequest {
        switch self {
        case .route(let route):
            try ApiRequest(of: route, at: RouteURL(of: route, in: environment), in: environment)
        case .url(let url, let method, let body): ApiRequest(at: url, method, body, from: environment)
        }
    }
}

extension ApiRequest {
    /// A route's request before header fields and body are completed, with the checked URL.
    @usableFromInline init<Router: ApiRouter>(
        of route: Router,
        at url: RouteURL,
        in environment: Router.EnvironmentType
    ) throws(ApiConnectorError) {
        self.init(
            url: try url.checked(for: route),
            method: route.method,
            headers: route.headers,
            body: route.body
        )
        context = CallContext(route: route, environment: environment)
    }

    /// The request to a URL that a server handed out, before header fields and body are completed.
    init(at url: URL, _ method: HTTPMethod, _ body: RequestBody, from environment: some ApiEnvironment) {
        self.init(url: url.absoluteURL, method: method, body: body)
        context = CallContext(environment: environment)
    }
}
