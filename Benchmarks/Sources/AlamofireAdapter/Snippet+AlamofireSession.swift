// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Alamofire
import ApiConnector

struct AlamofireProvider: DataRequestType {
    let session: Session

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        var inMemory = request
        if request.body.isStreamed {
            let data = try await request.body.collect(upTo: 16 << 20)
            inMemory.body = .data(data, mediaType: request.body.mediaType ?? .octetStream)
        }
        let outgoing = try URLRequest(inMemory)
        return try await ApiConnectorError.mapping(request) {
            let answer = await session.request(outgoing)
                .redirect(using: .doNotFollow)
                .serializingData(automaticallyCancelling: true, emptyResponseCodes: Set(100..<600))
                .response
            if let error = answer.error {
                throw error.isExplicitlyCancelledError ? CancellationError() : error.underlyingError ?? error
            }
            guard let head = answer.response else { throw URLError(.badServerResponse) }
            return Self.response(to: request, head, answer.data ?? Data())
        }
    }

    private static func response(to request: ApiRequest, _ head: HTTPURLResponse, _ body: Data) -> ApiResponse {
        var response = ApiResponse(
            to: request,
            status: HTTPStatus(rawValue: head.statusCode),
            body: ResponseBody(body),
            url: head.url
        )
        for (name, value) in head.allHeaderFields {
            if let name = name as? String, let value = value as? String {
                response.headers.append(.init(name), value)
            }
        }
        return response
    }
}

func alamofireConnector() -> NetworkConnector<AlamofireProvider, Blog> {
    let api = NetworkConnector(
        environment: .production,
        provider: AlamofireProvider(session: AF),
        router: Blog.self
    )
    return api
}

enum BlogServer: String, ApiEnvironment {
    case production = "blog.example.com"
}

enum Blog: String, ApiRouter {
    typealias EnvironmentType = BlogServer
    case me = "/me"
}
