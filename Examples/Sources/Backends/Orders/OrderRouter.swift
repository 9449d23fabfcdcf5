// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// The orders of the blog post on decoupling: every response is `{"data": …}` or `{"errors": […]}`, as in JSON:API.
package enum OrderRouter: ApiRouter {
    package typealias EnvironmentType = BackendEnvironment
    package typealias EnvelopeType = JSONAPIEnvelope<JSONAPIError>

    case create(OrderRequest)
    case order(id: String)

    /// The newest order. The shop redirects to its URL.
    case latest

    package var path: ApiPath {
        switch self {
        case .create: "/orders"
        case .order(let id): "/orders/\(id)"
        case .latest: "/orders/latest"
        }
    }

    package var method: HTTPMethod {
        switch self {
        case .create: .post
        case .order, .latest: .get
        }
    }

    package var headers: HTTPHeaders { [.accept: MediaType.jsonAPI.description] }

    package var body: RequestBody {
        switch self {
        case .create(let order): .json(order, mediaType: .jsonAPI)
        case .order, .latest: .empty
        }
    }
}

extension MediaType {
    /// The media type of JSON:API 1.1.
    package static let jsonAPI = MediaType("application", "vnd.api+json")
}
