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
        #expect(query.items.map(\.name) == ["q", "page", "open", "limit", "ratio", "id", "flag"])
        #expect(query.items.map(\.value) == ["a b", "2", "true", "5", "0.5", id.uuidString, nil])
        struct Search: ApiRouter {
            typealias EnvironmentType = Place
            let path = "/search"
            let queryItems: ApiQuery = ["page": 2, "draft": nil]
        }
        #expect(Search().url(for: Place()).absoluteString == "http://api.example.com:80/search?page=2&draft")
    }
}
