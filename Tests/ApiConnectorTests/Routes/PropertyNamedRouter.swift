// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

enum PropertyNamedRouter: String, ApiRouter {
    typealias EnvironmentType = Place
    case path = "/path"
    case queryItems = "/query-items"
    case method = "/method"
    case headers = "/headers"
    case body = "/body"
}
