// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

@testable import ApiConnectorTesting

/// The requests that each matcher accepts, in the scenarios of other mocking libraries' tests.
struct MatchingTableTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let matcher: RequestMatcher
        let request: ApiRequest
        let fits: Bool

        var testDescription: String {
            let body = (try? request.body.data()).map { String(decoding: $0, as: UTF8.self) } ?? ""
            return "\(matcher) \(fits ? "fits" : "does not fit") \(request.url) \(request.headers) \(body)"
        }

        /// A request to a path or a whole URL.
        static func path(_ template: String, _ target: String, _ fits: Bool) -> Row {
            Row(matcher: .path(template), request: request(to: target), fits: fits)
        }

        static func query(_ name: String, _ value: String, _ query: String, _ fits: Bool) -> Row {
            Row(matcher: .query(name, value), request: request(to: "/teas?\(query)"), fits: fits)
        }

        static func header(_ name: String, _ value: String, _ fields: [(String, String)], _ fits: Bool) -> Row {
            var headers = HTTPHeaders()
            for field in fields { headers.append(HTTPHeaders.Name(field.0), field.1) }
            let matcher = RequestMatcher.header(HTTPHeaders.Name(name), value)
            return Row(matcher: matcher, request: request(to: "/", headers: headers), fits: fits)
        }

        static func json(_ part: JSONValue, _ body: String, _ fits: Bool) -> Row {
            Row(matcher: .json(part), request: request(to: "/", body: .text(body)), fits: fits)
        }

        static func form(_ fields: [String: String], _ body: String, _ fits: Bool) -> Row {
            Row(matcher: .form(fields), request: request(to: "/", body: .text(body)), fits: fits)
        }

        static func method(_ matcher: RequestMatcher, _ method: HTTPMethod, _ fits: Bool) -> Row {
            Row(matcher: matcher, request: request(to: "/", method), fits: fits)
        }

        private static func request(
            to target: String,
            _ method: HTTPMethod = .get,
            headers: HTTPHeaders = [:],
            body: RequestBody = .empty
        ) -> ApiRequest {
            let text = target.contains("://") ? target : "https://api.example.com\(target)"
            let url = URL(string: text, encodingInvalidCharacters: false) ?? URL(filePath: "/not-a-url")
            return ApiRequest(url: url, method: method, headers: headers, body: body)
        }
    }

    static let paths: [Row] = [
        .path("/teas", "/teas", true),
        .path("/teas", "/teas?sort=name", true),
        .path("/teas", "/teas#green", true),
        .path("/teas", "/teas/", false),
        .path("/teas/", "/teas", false),
        .path("/teas/", "/teas/", true),
        .path("/teas", "/Teas", false),
        .path("/teas", "/teas/1", false),
        .path("/teas", "/v1/teas", false),
        .path("/teas", "/tea", false),
        .path("/a/b", "/a//b", false),
        .path("/a//b", "/a//b", true),
        .path("/", "https://api.example.com/", true),
        .path("/", "https://api.example.com", true),
        .path("/", "https://api.example.com?a=b", true),
        .path("/teas/{id}", "/teas/1", true),
        .path("/teas/{id}", "/teas/earl%20grey", true),
        .path("/teas/{id}", "/teas/a%2Fb", true),
        .path("/teas/{id}", "/teas/a/b", false),
        .path("/teas/{id}", "/teas", false),
        .path("/teas/{id}", "/teas/", false),
        .path("/{a}/{b}", "/x/y", true),
        .path("/{a}/{b}", "//y", false),
        .path("/{a}/cups", "/x/cups", true),
        .path("/teas/{id}.json", "/teas/1.json", false),
        .path("/teas/{id}.json", "/teas/%7Bid%7D.json", true),
        .path("/teas/a b", "/teas/a%20b", true),
        .path("/teas/a%20b", "/teas/a%20b", true),
        .path("/teas/a b", "/teas/a+b", false),
        .path("/teas/a+b", "/teas/a+b", true),
        .path("/caf\u{e9}", "/caf%C3%A9", true),
        .path("/caf%C3%A9", "/caf%c3%a9", true),
        .path("/%7Etea", "/~tea", true),
        .path("/~tea", "/%7Etea", true),
        .path("/a%2Fb", "/a%2fb", true),
        .path("/a%2Fb", "/a/b", false),
        .path("/100%", "/100%25", true),
        .path("/100%25", "/100%25", true),
    ]

    static let queries: [Row] = [
        .query("a", "1", "a=1", true),
        .query("a", "1", "b=2&a=1", true),
        .query("a", "1", "a=2", false),
        .query("a", "1", "A=1", false),
        .query("a", "1", "b=1", false),
        .query("a", "1", "", false),
        .query("a", "1", "a=1&a=2", false),
        .query("a", "1", "a=1&a=1", false),
        .query("a", "", "a=", true),
        .query("a", "", "a", true),
        .query("a", "", "b", false),
        .query("a", "x y", "a=x%20y", true),
        .query("a", "x y", "a=x+y", false),
        .query("a", "x+y", "a=x+y", true),
        .query("a", "x+y", "a=x%2By", true),
        .query("a", "x&y", "a=x%26y", true),
        .query("a", "b=c", "a=b=c", true),
        .query("a[]", "1", "a%5B%5D=1", true),
        .query("\u{e9}", "\u{e9}", "%C3%A9=%c3%a9", true),
        .query("a", "1", "b=a=1", false),
    ]

    static let headers: [Row] = [
        .header("X-Tea", "green", [("X-Tea", "green")], true),
        .header("x-tea", "green", [("X-TEA", "green")], true),
        .header("X-Tea", "green", [("X-Tea", "Green")], false),
        .header("X-Tea", "green", [("X-Tea", "black")], false),
        .header("X-Tea", "green", [], false),
        .header("X-Tea", "green", [("X-Tea", "black"), ("X-Tea", "green")], true),
        .header("X-Tea", "green", [("X-Tea", "black, green")], false),
        .header("X-Tea", "black, green", [("X-Tea", "black, green")], true),
        .header("X-Tea", "", [("X-Tea", "")], true),
        .header("X-Tea", "", [], false),
    ]

    static let bodies: [Row] = [
        .json(["a": 1], #"{"a":1}"#, true),
        .json(["a": 1], #" { "a" : 1 } "#, true),
        .json(["a": 1, "b": 2], #"{"b":2,"a":1}"#, true),
        .json(["a": 1], #"{"a":1,"b":2}"#, true),
        .json(["a": 1, "b": 2], #"{"a":1}"#, false),
        .json([:], #"{"a":1}"#, true),
        .json([:], "[]", false),
        .json([:], "", false),
        .json(["a": ["b": ["c": 1]]], #"{"a":{"b":{"c":1,"d":2}}}"#, true),
        .json(["a": nil], #"{"a":null}"#, true),
        .json(["a": nil], "{}", false),
        .json(["a": 1], #"{"a":null}"#, false),
        .json(["a": 1], #"{"a":1.0}"#, true),
        .json(["a": 100], #"{"a":1e2}"#, true),
        .json(["a": 1], #"{"a":"1"}"#, false),
        .json(["a": 1], #"{"a":true}"#, false),
        .json(["a": 9_007_199_254_740_993], #"{"a":9007199254740992}"#, false),
        .json(["a": [1, 2]], #"{"a":[1,2]}"#, true),
        .json(["a": [1, 2]], #"{"a":[2,1]}"#, false),
        .json(["a": [1, 2]], #"{"a":[1,2,3]}"#, false),
        .json(["a": []], #"{"a":[1]}"#, false),
        .json([["a": 1]], #"[{"a":1,"b":2}]"#, true),
        .json(["a": "\u{e9}"], #"{"a":"\u00e9"}"#, true),
        .json("tea", #""tea""#, true),
        .json(["a": 1], "a=1", false),
        .json(["a": 1], #"{"a":1"#, false),
        .form(["a": "1"], "a=1", true),
        .form(["a": "1"], "b=2&a=1", true),
        .form(["a": "1"], "a=2", false),
        .form(["a": "1"], "", false),
        .form(["a": "1"], "a=1&a=2", false),
        .form(["a": "1", "b": "2"], "a=1", false),
        .form(["a": "x y"], "a=x+y", true),
        .form(["a": "x y"], "a=x%20y", true),
        .form(["a": "x+y"], "a=x%2By", true),
        .form(["a": ""], "a=", true),
        .form(["a": ""], "a", true),
        .form(["a[b]": "1"], "a%5Bb%5D=1", true),
        .form(["a": "100%"], "a=100%", true),
        .form(["a": "1"], #"{"a":"1"}"#, false),
        .form([:], "a=1", true),
    ]

    static let combinations: [Row] = [
        .method(.method(.get), .get, true),
        .method(.method(.get), .head, false),
        .method(.method(.post), "post", false),
        .method(.method("PURGE"), "PURGE", true),
        .method(.method(.get).and(.path("/")), .get, true),
        .method(.method(.get).and(.path("/a")), .get, false),
        .method(.method(.put).or(.path("/")), .get, true),
        .method(.method(.put).or(.path("/a")), .get, false),
        .method(.not(.method(.put)), .get, true),
        .method(.not(.not(.method(.get))), .get, true),
        .method(.not(.method(.put).or(.method(.get))), .get, false),
        .method(.satisfying("is a GET") { $0.method == .get }, .get, true),
    ]

    @Test(arguments: paths + queries + headers + bodies + combinations)
    func matchesAsTheTableSays(_ row: Row) throws {
        let body = try row.request.body.data()
        let sent = RecordedRequest(number: 1, request: row.request, body: body)
        #expect(row.request.url.scheme == "https")
        #expect(row.matcher.matches(sent) == row.fits)
        #expect(row.matcher.explain(sent).isEmpty == row.fits)
    }
}
