// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The target of a call: an endpoint of the router, or a URL that a server returned.
enum CallTarget<Router: ApiRouter>: Sendable {
    case route(Router)
    case url(URL, HTTPMethod, RequestBody)

    /// The request before its header fields and body are complete.
    func draft(in environment: Router.EnvironmentType) throws(ApiConnectorError) -> ApiRequest {
        switch self {
        case .route(let route):
            try ApiRequest(of: route, at: RouteURL(of: route, in: environment), in: environment)
        case .url(let url, let method, let body):
            try ApiRequest(at: url, method, body, from: environment)
        }
    }
}
