// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

struct ApiQueryTests {
    enum Search: ApiRouter {
        typealias EnvironmentType = Environment

        case filtered(Filter), limited(to: Double), tagged([String]), dated(String), all

        var path: ApiPath { "/search" }

        var queryItems: ApiQuery {
            switch self {
            case .filtered(let filter): .encoding(filter)
            case .limited(to: let limit): .encoding(["limit": limit])
            case .tagged(let tags): .encoding(["tag": tags], as: FormEncoding(arrays: .brackets))
            case .dated(let day): ["date": day, "exact": "1"]
            case .all: .empty
            }
        }

        var method: HTTPMethod { .post }

        var body: RequestBody {
            switch self {
            case .filtered(let filter): .form(filter)
            case .limited(to: let limit): .form(["limit": limit])
            default: .empty
            }
        }
    }

    /// Its queries are encoded already.
    enum Encoded: ApiRouter {
        typealias EnvironmentType = Environment

        case text(String)

        var path: ApiPath { "/search" }

        var queryItems: ApiQuery {
            switch self {
            case .text(let text): ApiQuery(alreadyEncoded: text)
            }
        }
    }

    @Test(arguments: [
        ("ids=1,2&a%2Cb=c%20d", "?ids=1,2&a%2Cb=c%20d"), ("a=b c#d", "?a=b%20c%23d"),
        ("100%&é?/:@", "?100%25&%C3%A9?/:@"),
        ("", ""), ("a|b\r\n", "?a%7Cb%0D%0A"),
    ])
    func anEncodedQueryKeepsItsDelimiters(_ text: String, _ query: String) throws {
        let api = NetworkConnector<TestConnector<ClosureResponses>, Encoded>(
            environment: .test,
            provider: TestConnector { _ in .status(204) }
        )
        let url = try api.request(at: .text(text)).url
        #expect(url.absoluteString == api.url(at: .text("")).absoluteString + query)
    }

    @Test func theItemsOfAnEncodedQueryAreDecoded() {
        let query = ApiQuery(alreadyEncoded: "a=1,2&b%20c&d=%26")
        #expect(query.items.map(\.name) == ["a", "b c", "d"])
        #expect(query.items.map(\.value) == ["1,2", nil, "&"])
    }

    /// Not optional: a router that says so must not fall back to the default.
    enum Plain: String, ApiRouter {
        typealias EnvironmentType = Environment

        case plain = "/plain"

        var queryItems: [URLQueryItem] {
            [URLQueryItem(name: "a", value: "1"), URLQueryItem(name: "flag", value: nil)]
        }
    }

    private let api = NetworkConnector<TestConnector<ClosureResponses>, Search>(
        environment: .test,
        provider: TestConnector { _ in .status(204) }
    )

    @Test(arguments: [
        (Search.filtered(Filter()), "/search?text=pug%20%26%20cat&sort=by%20name&limit=20&isOpen=true"),
        (.limited(to: 1e22), "/search?limit=1e%2B22"),
        (.tagged(["*~", "é"]), "/search?tag%5B%5D=%2A~&tag%5B%5D=%C3%A9"),
        (.tagged([]), "/search"),
        (.dated("2016-11-21"), "/search?date=2016-11-21&exact=1"),
        (.all, "/search"),
        (.limited(to: .nan), "/search"),
    ])
    func writesAQueryByTheRoutersOwnRule(_ route: Search, _ expected: String) {
        #expect(route.url(for: .test).absoluteString == "http://mytestserver.com:80" + expected)
    }

    @Test func takesItemsThatAreNotOptional() {
        #expect(Plain.plain.url(for: .test).absoluteString == "http://mytestserver.com:80/plain?a=1&flag")
    }

    @Test func refusesARouteWhoseQueryDoesNotEncode() async throws {
        let error = try await #require(throws: ApiConnectorError.self) { try await api.data(at: .limited(to: .nan)) }
        #expect(error.kind == .encodingFailed)
        #expect(error.stage == .url)
        #expect(
            error.description
                == "POST http://mytestserver.com/search failed (encodingFailed): the query, a value of "
                + "type Dictionary<String, Double>, does not encode: at \"limit\", a value of type Double: it is not a "
                + "finite number, which a form cannot represent. Nothing was sent."
        )
    }

    private struct Unfinished: Encodable {
        func encode(to encoder: any Encoder) throws {
            throw ApiConnectorError(.encodingFailed, at: .url, "the day is not set")
        }
    }

    @Test func anErrorOfThisLibraryFromAValueStaysAsItIs() throws {
        #expect(ApiQuery.encoding(Unfinished()).error?.detail == "the day is not set")
        #expect(ApiQuery.encoding(["day": Unfinished()]).error?.detail == "the day is not set")
        let error = try #require(throws: ApiConnectorError.self) { try [URLQueryItem](encoding: Unfinished()) }
        #expect(error.detail == "the day is not set")
    }

    @Test func makesItemsByHand() throws {
        #expect(try [URLQueryItem](encoding: ["a": 1]) == [URLQueryItem(name: "a", value: "1")])
        let error = try #require(throws: ApiConnectorError.self) { try [URLQueryItem](encoding: [1]) }
        #expect(error.kind == .encodingFailed)
        #expect(ApiQuery.encoding([1]).items.isEmpty)
        #expect(ApiQuery.encoding([1]).error?.detail == error.detail)
        #expect(ApiQuery.encoding([1: 1]).error == nil)
    }

    @Test func sendsAFormAsABrowserDoes() throws {
        let text = "text=pug+%26+cat&sort=by+name&limit=20&isOpen=true"
        let request = try api.request(at: .filtered(Filter()))
        #expect(request.headers[.contentType] == "application/x-www-form-urlencoded")
        #expect(request.body.byteCount == text.utf8.count)
        #expect(String(decoding: try request.body.data(), as: UTF8.self) == text)
    }
}
