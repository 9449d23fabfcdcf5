// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What a call asks: one of the router's endpoints, or a URL that a server handed out.
enum CallTarget<Router: ApiRouter>: Sendable {
    case route(Router)
    case url(URL, HTTPMethod, RequestBody)

    /// The request before header fields and body are completed; for a route with the checked URL.
    func draft(in environment: Router.EnvironmentType) throws(ApiConnectorError) -> ApiRequest {
        switch self {
        case .route(let route):
            var request = ApiRequest(
                url: try RouteURL.checked(route, in: environment),
                method: route.method,
                headers: route.headers,
                body: route.body
            )
            request.context = CallContext(route: route, environment: environment)
            return request
        case .url(let url, let method, let body):
            var request = ApiRequest(url: url.absoluteURL, method: method, body: body)
            request.context = CallContext(environment: environment)
            return request
        }
    }
}
