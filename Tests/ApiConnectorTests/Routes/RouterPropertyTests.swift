// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// Properties of a router that have another type than the protocol's default.
struct RouterPropertyTests {
    /// As a Moya target may be written.
    private struct Target: ApiRouter {
        typealias EnvironmentType = Place

        let path = "/me"
        var headers: [String: String]? = ["X-B": "2", "X-A": "1"]
        var queryItems = ["q": "a b", "page": "2"]
        var body: Data? = Data("raw".utf8)
        let method = "POST"
    }

    private struct Untyped: ApiRouter {
        typealias EnvironmentType = Place

        let path = "/me"
        var headers: [String: any Sendable]?
        var queryItems: [String: Int]?
        var body: [String: any Sendable]?
        var method: Int?
    }

    private func request<Router: ApiRouter>(
        _ route: Router
    ) throws(ApiConnectorError) -> ApiRequest where Router.EnvironmentType == Place {
        try NetworkConnector(environment: Place(), provider: TestConnector { _ in .never }, router: Router.self)
            .request(at: route)
    }

    @Test func areConvertedWherePossible() throws {
        let request = try request(Target())
        #expect(request.url.absoluteString == "http://api.example.com:80/me?page=2&q=a%20b")
        #expect(request.method == .post)
        #expect(request.headers.values("X-A") == ["1"] && request.headers.values("X-B") == ["2"])
        #expect(try request.body.data() == Data("raw".utf8))
        #expect(Target().url(for: Place()) == request.url)
    }

    @Test func areTheDefaultWhereTheyAreNil() throws {
        #expect(try self.request(Target(headers: nil, queryItems: [:], body: nil)).body.isEmpty)
        let request = try request(Untyped())
        #expect(request.url.absoluteString == "http://api.example.com:80/me")
        #expect(request.method == .get)
        #expect(request.body.isEmpty)
    }

    @Test func areRefusedWithTheirNameIfTheyCannotBeConverted() throws {
        let rows: [(Untyped, String)] = [
            (
                Untyped(headers: ["A": 1]),
                "headers has the type Optional<Dictionary<String, Any>>; declare it as HTTPHeaders"
            ),
            (
                Untyped(queryItems: ["A": 1]),
                "queryItems has the type Optional<Dictionary<String, Int>>; declare it as ApiQuery"
            ),
            (
                Untyped(body: ["A": 1]),
                "body has the type Optional<Dictionary<String, Any>>; declare it as RequestBody"
            ),
            // The static type decides, not the values.
            (
                Untyped(headers: ["A": "1"]),
                "headers has the type Optional<Dictionary<String, Any>>; declare it as HTTPHeaders"
            ),
            (Untyped(method: 1), "method has the type Optional<Int>; declare it as HTTPMethod"),
        ]
        for (route, detail) in rows {
            let error = try #require(throws: ApiConnectorError.self) { try request(route) }
            #expect(error.kind == .invalidRequest)
            #expect(error.detail == "route Untyped: its property " + detail)
            #expect(error.stage == (detail.hasPrefix("queryItems") ? .url : .request))
        }
    }
}
