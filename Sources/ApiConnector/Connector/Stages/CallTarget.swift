// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What a call asks: one of the router's endpoints, or a URL that a server returned.
enum CallTarget<Router: ApiRouter>: Sendable {
    case route(Router)
    case url(URL, HTTPMethod, RequestBody)

    /// The request before header fields and body are completed.
    func draft(in environment: Router.EnvironmentType) throws(ApiConnectorError) -> ApiRequest {
        switch self {
        case .route(let route):
            try ApiRequest(of: route, at: RouteURL(of: route, in: environment), in: environment)
        case .url(let url, let method, let body):
            try ApiRequest(at: url, method, body, from: environment)
        }
    }
}
