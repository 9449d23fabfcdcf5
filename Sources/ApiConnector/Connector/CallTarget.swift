// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What a call asks: one of the router's endpoints, or a URL that a server handed out.
enum CallTarget<Router: ApiRouter>: Sendable {
    case route(Router)
    case url(URL, HTTPMethod, RequestBody)

    /// From the target to the URL: for a route the checked one.
    func url(in environment: Router.EnvironmentType) throws(ApiConnectorError) -> URL {
        switch self {
        case .route(let route): try RouteURL.checked(route, in: environment)
        case .url(let url, _, _): url.absoluteURL
        }
    }

    /// The request to a URL before header fields and body are completed.
    func draft(to url: URL, in environment: Router.EnvironmentType, _ settings: CallSettings) -> ApiRequest {
        let delivery = ResponseDelivery.collected(upTo: settings.configuration.maximumBodyByteCount)
        switch self {
        case .route(let route):
            var request = ApiRequest(
                url: url,
                method: route.method,
                headers: route.headers,
                body: route.body,
                delivery: delivery
            )
            request.context = CallContext(route: route, environment: environment)
            return request
        case .url(_, let method, let body):
            var request = ApiRequest(url: url, method: method, body: body, delivery: delivery)
            request.context = CallContext(environment: environment)
            return request
        }
    }
}
