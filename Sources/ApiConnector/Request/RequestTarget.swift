// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The resource that a request asks for: two requests with equal targets ask for the same resource.
struct RequestTarget: Hashable {
    private let method: HTTPMethod
    let origin: HTTPOrigin?
    private let path: String
    private let query: String?

    init(_ request: ApiRequest) {
        method = request.method
        origin = HTTPOrigin(request.url)
        path = request.url.path(percentEncoded: true)
        query = request.url.query(percentEncoded: true)
    }
}
