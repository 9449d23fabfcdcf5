// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorOpenAPI
import ApiConnectorTesting
import Synchronization
import Testing

/// Tests of calls, pages and credentials of a router for operations.
struct OperationTests {
    /// Answers each request with a page of one item, and records the requests.
    private final class Shop: Sendable {
        private let requests = Mutex<[ApiRequest]>([])

        var seen: [ApiRequest] { requests.withLock { $0 } }

        var provider: AnyProvider {
            AnyProvider(
                TestConnector { request in
                    let count = self.requests.withLock { requests in
                        requests.append(request)
                        return requests.count
                    }
                    let next: JSONValue = count == 1 ? "a+b&c" : count == 2 ? "" : .null
                    return .json(["items": [.number(JSONNumber(count))], "next": next])
                }
            )
        }
    }

    private struct Items: Decodable, Sendable {
        let items: [Int]
        let next: String?
    }

    @Test func aCallHasThePartsOfItsRoute() async throws {
        let shop = Shop()
        let connection = NetworkConnector(
            environment: ShopServer(),
            provider: shop.provider,
            router: ShopRouter.self
        )
        let call = ApiCall<ShopRouter, Items>(
            .post,
            "/items/\(7)",
            query: [.form("q", "x")],
            headers: [.field("X-A", "a")],
            body: .text("body")
        )
        #expect(try await connection.value(call).items == [1])
        let sent = try #require(shop.seen.first)
        #expect(sent.method == .post)
        #expect(sent.url.absoluteString == "https://shop.example/v1/items/7?q=x")
        #expect(sent.headers["X-A"] == "a")
        #expect(try sent.body.data() == Data("body".utf8))
    }

    @Test func theNextPageHasTheCursorInPlaceOfThePreviousOneAndTheSameOtherItems() async throws {
        let shop = Shop()
        let connection = NetworkConnector(
            environment: ShopServer(),
            provider: shop.provider,
            router: ShopRouter.self
        )
        let first = ApiCall<ShopRouter, Items>(
            .get,
            "/items",
            query: [.form("after", "0"), .joined("k", ["a,b", "c"])]
        )
        var items: [Int] = []
        for try await page in connection.pages(from: first, next: .cursor("after") { $0.value.next }) {
            items += page.items
        }
        // An empty cursor ends the list.
        #expect(items == [1, 2])
        #expect(
            shop.seen.map { $0.url.query(percentEncoded: true) } == [
                "after=0&k=a%2Cb,c", "k=a%2Cb,c&after=a%2Bb%26c",
            ]
        )
    }

    private func fields(
        _ security: [[String]]?,
        sources: [String: (any CredentialSource)?]
    ) async throws -> [String?] {
        let shop = Shop()
        let connection = NetworkConnector(
            environment: ShopServer(),
            provider: shop.provider.authenticating(by: OperationCredentials(sources, security: [["token"]])),
            router: ShopRouter.self
        )
        _ = try await connection.data(at: ShopRouter(.get, "/items", security: security))
        return ["Authorization", "X-Key", "X-Other"].map { shop.seen.first?.headers[$0] }
    }

    private static let sources: [String: (any CredentialSource)?] = [
        "token": .fixed(.bearer("t")), "key": .fixed(.apiKey("k", inHeader: "X-Key")),
        "other": .fixed(.apiKey("o", inHeader: "X-Other")), "none": nil,
    ]

    @Test func anOperationGetsTheCredentialsOfItsFirstAlternativeWithSources() async throws {
        func fields(_ security: [[String]]?) async throws -> [String?] {
            try await self.fields(security, sources: Self.sources)
        }
        #expect(try await fields(nil) == ["Bearer t", nil, nil])
        #expect(try await fields([]) == [nil, nil, nil])
        #expect(try await fields([["key"]]) == [nil, "k", nil])
        #expect(try await fields([["key", "other"]]) == [nil, "k", "o"])
        #expect(try await fields([["none"], ["unknown"], ["key", "none"], ["other"], ["key"]]) == [nil, nil, "o"])
        #expect(try await fields([[], ["key"]]) == [nil, "k", nil])
        #expect(try await fields([["none"]]) == [nil, nil, nil])
    }

    @Test func aRouteOfAnotherKindGetsNoCredential() async throws {
        struct Plain: ApiRouter {
            typealias EnvironmentType = ShopServer
            let path: ApiPath = "/plain"
        }
        let shop = Shop()
        let connection = NetworkConnector(
            environment: ShopServer(),
            provider: shop.provider.authenticating(by: OperationCredentials(Self.sources, security: [["token"]])),
            router: Plain.self
        )
        _ = try await connection.data(at: Plain())
        #expect(shop.seen.count == 1)
        #expect(shop.seen.first?.headers[.authorization] == nil)
    }

    /// Counts the credentials that it is told of.
    private final class Source: CredentialSource {
        private let count = Mutex(0)

        var refusedCount: Int { count.withLock { $0 } }

        func credential(for request: ApiRequest) async throws(ApiConnectorError) -> ApiCredential? { nil }

        func refuse(_ credential: ApiCredential) {
            // A source knows its own credential, not one that is combined with others.
            count.withLock { $0 += credential.parts.count == 1 ? 1 : 100 }
        }
    }

    @Test func everySourceIsToldOfEachPartOfARefusedCredential() {
        let sources = [Source(), Source()]
        let credentials = OperationCredentials(["a": sources[0], "b": sources[1]], security: [])
        credentials.refuse(.all([.bearer("t"), .apiKey("k", inHeader: "X-Key"), .bearer("u")]))
        #expect(sources.map(\.refusedCount) == [3, 3])
    }
}
