// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorOpenAPI

/// A router and a server, as the generator writes them.
struct ShopRouter: OperationRouter {
    typealias EnvironmentType = ShopServer

    let parts: RouteParts

    init(parts: RouteParts) {
        self.parts = parts
    }
}

struct ShopServer: ApiEnvironment {
    let host = "shop.example"
    let scheme = HTTPScheme.https
    let port: Int? = nil
    let basePath = "/v1"
}

/// The request of a route that is made of these parts.
func request(
    _ path: RouteParts.Path = "/items",
    query: [RouteParts.QueryParameter] = [],
    headers: [RouteParts.HeaderParameter] = [],
    body: RequestBody = .empty
) throws(ApiConnectorError) -> ApiRequest {
    let connection = NetworkConnector(environment: ShopServer(), provider: SystemProvider(), router: ShopRouter.self)
    return try connection.request(at: ShopRouter(.get, path, query: query, headers: headers, body: body))
}

/// A parameter that is an object.
struct Filter: Encodable, ParameterValue {
    var name: String?
    var ages: [Int]?
}

/// A parameter that does not encode.
struct Broken: Encodable, ParameterValue {
    let limit = Double.nan
}
