// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

/// An environment with every part free; `http://api.example.com:80` by default.
struct Place: ApiEnvironment {
    var host = "api.example.com"
    var scheme = HTTPScheme.http
    var port: Int? = 80
    var basePath = ""
    var defaultHeaders = HTTPHeaders()
}

/// A router with every part free.
struct Endpoint<Path: ApiPathConvertible & Sendable>: ApiRouter {
    typealias EnvironmentType = Place

    var path: Path
    var queryItems: [URLQueryItem]?
    var method = HTTPMethod.get
    var headers = HTTPHeaders()
    var body = RequestBody.empty

    /// The whole text of its URL.
    func text(in place: Place = Place()) -> String {
        url(for: place).absoluteString
    }

    /// The request that a connection would send.
    func request(in place: Place = Place()) throws(ApiConnectorError) -> ApiRequest {
        try NetworkConnector(environment: place, provider: TestConnector { _ in .never }, router: Self.self)
            .request(at: self)
    }
}

extension Endpoint where Path == ApiPath {
    init(_ path: ApiPath) {
        self.init(path: path)
    }
}

extension Endpoint where Path == String {
    init(text: String, query: [URLQueryItem]? = nil) {
        self.init(path: text, queryItems: query)
    }
}
