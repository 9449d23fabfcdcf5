// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import FlyingFox
import Foundation

/// A backend that answers the requests below its name.
protocol Backend: Sendable {
    func answer(_ call: Call) async throws -> HTTPResponse
}

/// Passes each request to the backend named by its first path segment.
struct BackendsHandler: HTTPHandler {
    private let backends: [String: any Backend]

    init(faults: FaultPlan) {
        backends = [
            "blog": BlogBackend(),
            "users": UsersBackend(),
            "pugs": PugsBackend(),
            "orders": OrdersBackend(),
            "exports": ExportsBackend(),
            "feed": FeedBackend(),
            "github": GitHubBackend(),
            "stock": StockBackend(faults),
            "tea": TeaBackend(),
        ]
    }

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
        var call = try await Call(request)
        guard let name = call.path.popFirst(), let backend = backends[name] else {
            return .message("There is no backend here.", .notFound)
        }
        do {
            return try await backend.answer(call)
        } catch let error as DecodingError {
            return .message("The body cannot be decoded: \(error)", .badRequest)
        }
    }
}

/// A decoded request for a backend.
struct Call: Sendable {
    let method: String

    /// The segments after the backend's name.
    ///
    /// They are decoded one by one, so that a slash in a value is not a separator.
    var path: ArraySlice<String>

    let query: [HTTPRequest.QueryItem]
    let authorization: String?
    let ifRange: String?
    let ifNoneMatch: String?
    let userAgent: String?

    /// The port in the client's `Host` field.
    let port: Int

    /// The first byte of a range that is open at the end; nil without a range.
    let rangeStart: Int?

    /// The id of the last event that the client received.
    let lastEventID: String?

    let body: Data

    init(_ request: HTTPRequest) async throws {
        method = request.method.rawValue
        path = request.target.path().split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }[...]
        query = request.query
        authorization = request.headers[.authorization]
        ifRange = request.headers[HTTPHeader("If-Range")]
        ifNoneMatch = request.headers[HTTPHeader("If-None-Match")]
        userAgent = request.headers[HTTPHeader("User-Agent")]
        port = request.headers[.host].flatMap { $0.split(separator: ":").last }.flatMap { Int($0) } ?? 80
        let range = request.headers[HTTPHeader("Range")]?.split(separator: "=").last
        rangeStart = range.flatMap { $0.hasSuffix("-") ? Int($0.dropLast()) : nil }
        lastEventID = request.headers[HTTPHeader("Last-Event-ID")]
        body = try await request.bodyData
    }

    /// The number in a query item; nil if the item is missing or not a number.
    func number(_ name: String) -> Int? {
        query.first { $0.name == name }.flatMap { Int($0.value) }
    }

    func json<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(type, from: body)
    }
}

extension HTTPResponse {
    /// A value as JSON, dates in ISO 8601.
    static func json(
        _ value: some Encodable,
        _ status: HTTPStatusCode = .ok,
        headers: HTTPHeaders = [:]
    ) throws -> HTTPResponse {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var headers = headers
        headers[.contentType] = "application/json"
        return HTTPResponse(statusCode: status, headers: headers, body: try encoder.encode(value))
    }

    /// An error with a readable message: `{"error": "…"}`.
    static func message(_ text: String, _ status: HTTPStatusCode) -> HTTPResponse {
        (try? json(["error": text], status)) ?? HTTPResponse(statusCode: status)
    }
}
