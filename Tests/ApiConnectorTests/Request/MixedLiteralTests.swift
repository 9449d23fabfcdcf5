// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// Literals whose values have different types.
struct MixedLiteralTests {
    @Test func makeABody() throws {
        let body = RequestBody.json(["id": 1, "name": "tea", "tags": [1, "a", nil], "hot": true])
        let request = try Endpoint(path: "/", method: .post, body: body).request()
        let value = try JSONDecoder().decode(JSONValue.self, from: request.body.data())
        #expect(value == ["id": 1, "name": "tea", "tags": [1, "a", nil], "hot": true])
        #expect(request.headers[.contentType] == "application/json")
    }

    @Test func makeACannedAnswer() async throws {
        let api = NetworkConnector(
            environment: Place(),
            provider: TestConnector { _ in .json(["id": 7, "name": "tea"]) },
            router: Endpoint<ApiPath>.self
        )
        #expect(try await api.value(Item.self, at: Endpoint("/")) == Item(id: 7))
    }

    @Test func makeAQuery() {
        let limit: Int? = 5
        let id = UUID()
        let text = "a b"
        let query: ApiQuery = ["q": text, "page": 2, "open": true, "limit": limit, "ratio": 0.5, "id": id, "flag": nil]
        #expect(query.items.map(\.name) == ["q", "page", "open", "limit", "ratio", "id"])
        #expect(query.items.map(\.value) == ["a b", "2", "true", "5", "0.5", id.uuidString])
        struct Search: ApiRouter {
            typealias EnvironmentType = Place
            let path = "/search"
            let queryItems: ApiQuery
        }
        let page: Int? = nil
        for (query, text) in [
            (["page": 2, "draft": nil], "?page=2"), (["page": page], ""), (["page": nil as Int?], ""),
            (["page": "", "day": nil as Date?], "?page="), ([URLQueryItem(name: "draft", value: nil)], "?draft"),
        ] as [(ApiQuery, String)] {
            #expect(
                Search(queryItems: query).url(for: Place()).absoluteString == "http://api.example.com:80/search\(text)"
            )
        }
    }

    @Test func makeHeaderFields() async throws {
        let missing: String? = nil
        let version: String? = "2"
        let headers: HTTPHeaders = ["X-A": missing, "X-B": "", "X-C": version, "X-D": nil, .accept: "text/plain"]
        #expect(headers.map(\.name) == ["X-B", "X-C", .accept])
        #expect(headers.map(\.value) == ["", "2", "text/plain"])
        let request = try Endpoint<ApiPath>(path: "/", headers: headers).request()
        #expect(request.headers["X-B"] == "")
        #expect(!request.headers.contains("X-A"))
    }
}
