// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

@testable import ApiConnectorTesting

/// The line to paste that a request without an answer comes with: pasted, it answers the request.
@Suite(.timeLimit(.minutes(10)))
struct PastedLineTests {}

extension PastedLineTests {
    private func line(answering request: ApiRequest) async throws -> String {
        let script = Script(for: Shop.self, in: .test)
        let error = await #expect(throws: ApiConnectorError.self) {
            try await TestConnector(script).response(for: request)
        }
        let lines = try #require(error?.detail.split(separator: "\n"))
        return try #require(lines.count > 1 ? lines[1].trimmingCharacters(in: .whitespaces) : nil)
    }

    private func request(_ text: String, _ body: RequestBody = .empty) throws -> ApiRequest {
        ApiRequest(url: try #require(URL(string: text)), method: body.isEmpty ? .get : .post, body: body)
    }

    @Test func leavesOutTheSecretsOfAQuery() async throws {
        let request = try request("https://shop.example.com/teas?page=2&access_token=zebra&hint=Bearer%20zebra")
        let line = try await line(answering: request)
        #expect(
            line == #"script.on(matching: .method(.get), .path("/teas"), .query("page", "2")).answer(.status(200))"#
        )

        let script = Script(for: Shop.self, in: .test)
        script.on(matching: .method(.get), .path("/teas"), .query("page", "2")).answer(.status(200))
        #expect(try await TestConnector(script).response(for: request).status == 200)
        #expect(await script.end().isEmpty)
    }

    @Test func leavesOutTheSecretsOfAForm() async throws {
        let request = try request(
            "https://shop.example.com/login",
            .form(["user": "ada & eve", "password": "zebra", "note": "say \"tea\""])
        )
        let line = try await line(answering: request)
        #expect(
            line == """
                script.on(matching: .method(.post), .path("/login"), .form(["note": "say \\"tea\\"", "user": "ada & eve"]))\
                .answer(.status(200))
                """
        )

        let script = Script(for: Shop.self, in: .test)
        script.on(matching: .method(.post), .path("/login"), .form(["note": "say \"tea\"", "user": "ada & eve"]))
            .answer(.status(200))
        #expect(try await TestConnector(script).response(for: request).status == 200)
        #expect(await script.end().isEmpty)
    }

    @Test func leavesOutTheSecretsOfJSON() async throws {
        let order: JSONValue = [
            "id": 7, "password": "zebra", "users": [["name": "ada", "token": "zebra"]],
            "headers": ["Bearer zebra", "plain"], "price": 1.5, "note": nil,
        ]
        let request = try request("https://shop.example.com/teas", .json(order))
        let line = try await line(answering: request)
        #expect(
            line == """
                script.on(matching: .method(.post), .path("/teas"), \
                .json(["id": 7, "note": nil, "price": 1.5, "users": [["name": "ada"]]])).answer(.status(200))
                """
        )

        let script = Script(for: Shop.self, in: .test)
        script.on(
            matching: .method(.post),
            .path("/teas"),
            .json(["id": 7, "note": nil, "price": 1.5, "users": [["name": "ada"]]])
        ).answer(.status(200))
        #expect(try await TestConnector(script).response(for: request).status == 200)
        #expect(await script.end().isEmpty)
    }

    @Test func leavesOutTheSecretsOfAPath() async throws {
        let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlLXplYnJh"
        let request = try request("https://shop.example.com/shares/\(token)/teas")
        let line = try await line(answering: request)
        #expect(
            line == #"script.on(matching: .method(.get), .path("/shares/{secret}/teas")).answer(.status(200))"#
        )
        let script = Script(for: Shop.self, in: .test)
        script.on(matching: .method(.get), .path("/shares/{secret}/teas")).answer(.status(200))
        #expect(try await TestConnector(script).response(for: request).status == 200)
        #expect(await script.end().isEmpty)
    }

    @Test func leavesOutPartsThatNoMatcherExpresses() async throws {
        let text = #"{"exact": 0.12345678901234567891, "large": 1e300, "teas": 3}"#
        let body = RequestBody.data(Data(text.utf8), mediaType: .json)
        let line = try await line(answering: try request("https://shop.example.com/a?b=1&b=2&c", body))
        #expect(
            line == """
                script.on(matching: .method(.post), .path("/a"), .query("c", ""), .json(["large": 1e+300, "teas": 3]))\
                .answer(.status(200))
                """
        )
    }

    /// Reads the printed text as Swift reads it, for any request.
    @Test func matchesAnyRequestAndShowsNoSecret() throws {
        var random = SplitMix64.printed()
        var matchedCount = 0, bodyCount = 0
        for _ in 0..<SplitMix64.caseCount / 10 {
            let sent = random.request()
            let text = PastedLine(answering: sent).description
            #expect(!text.contains("zebra"), "\(text)")
            let matchers = try #require(LineReader.matchers(of: text), "\(text)")
            #expect(RequestMatcher.all(matchers).explain(sent) == [], "\(text)")
            matchedCount += 1
            bodyCount += text.contains(".json(") || text.contains(".form(") ? 1 : 0
        }
        #expect(matchedCount == SplitMix64.caseCount / 10)
        // A handful of cases may have few bodies.
        #expect(SplitMix64.caseCount < 1_000 || bodyCount > SplitMix64.caseCount / 40)
    }
}

// MARK: - Random requests

extension SplitMix64 {
    fileprivate mutating func request() -> RecordedRequest {
        var parts = URLComponents()
        parts.scheme = "https"
        parts.host = "shop.example.com"
        let segments = (0..<Int.random(in: 0...4, using: &self)).map { _ in
            text().addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        }
        parts.percentEncodedPath = segments.map { "/\($0)" }.joined() + (Bool.random(using: &self) ? "/" : "")
        if Bool.random(using: &self) {
            parts.queryItems = fields().map {
                URLQueryItem(name: $0, value: Int.random(in: 0..<9, using: &self) == 0 ? nil : $1)
            }
        }
        let methods: [HTTPMethod] = [.get, .post, .patch, .trace, "PURGE", "get", "a \"b\"\n"]
        var request = ApiRequest(url: parts.url ?? ShopServer.elsewhere)
        request.method = methods.randomElement(using: &self) ?? .get
        let body: Data
        switch Int.random(in: 0...4, using: &self) {
        case 0:
            body = Data()
        case 1:
            body = Data(text().utf8)
            request.body = .text(text())
        case 2:
            let allowed = CharacterSet.alphanumerics
            let pairs = fields().map { name, value in
                [name, value].map { $0.addingPercentEncoding(withAllowedCharacters: allowed) ?? "" }.joined(
                    separator: "="
                )
            }
            body = Data(pairs.joined(separator: "&").utf8)
            request.body = .data(body, mediaType: .form)
        default:
            body = Data(json(depth: 3).description.utf8)
            request.body = .data(body, mediaType: .json)
            request.headers[.contentType] = "application/json"
        }
        return RecordedRequest(number: 1, request: request, body: body)
    }

    /// Names and values; each value that must be secret contains a word that the test looks for.
    private mutating func fields() -> [(String, String)] {
        (0..<Int.random(in: 0...4, using: &self)).map { _ in
            let name = name()
            return (name, Redactor.standard.isSecret(queryItem: name) ? secret() : text())
        }
    }

    private mutating func json(depth: Int) -> JSONValue {
        switch Int.random(in: 0...(depth > 0 ? 9 : 6), using: &self) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &self))
        case 2: return .number(JSONNumber(Int64.random(in: .min ... .max, using: &self)))
        case 3: return JSONNumber(Double(bitPattern: next())).map(JSONValue.number) ?? .null
        case 4: return Decimal(string: "\(next()).\(next())").flatMap { JSONNumber($0) }.map(JSONValue.number) ?? .null
        case 5, 6: return .string(text())
        case 7: return .array((0..<Int.random(in: 0...3, using: &self)).map { _ in json(depth: depth - 1) })
        default:
            let fields = (0..<Int.random(in: 0...4, using: &self)).map { _ in
                let name = name()
                return (name, Redactor.standard.isSecret(field: name) ? secretJSON() : json(depth: depth - 1))
            }
            return .object(Dictionary(fields) { first, _ in first })
        }
    }

    private mutating func secretJSON() -> JSONValue {
        switch Int.random(in: 0...2, using: &self) {
        case 0: .string(secret())
        case 1: .array([.string(secret()), .string(secret())])
        default: .object(["a": .string(secret())])
        }
    }

    private mutating func secret() -> String { "zebra\(next())" }

    private mutating func name() -> String {
        let names = ["token", "password", "Access-Token", "api_key", "page", "a", "name", "é", "e\u{301}", "user[id]"]
        return Int.random(in: 0...4, using: &self) == 0 ? text() : names.randomElement(using: &self) ?? ""
    }

    /// A text with what is special in Swift, in URLs and in Unicode; now and then a secret by its shape.
    private mutating func text() -> String {
        let pieces = [
            "a", "tea", "7", "\"", "\\", "\\(", "\n", "\r\n", "\t", "\0", "/", "%", "%41", "+", " ", "&", "=", "{", "}",
            "#",
            "é", "\u{301}", "\u{200D}", "🍵", "🇩🇪", "\u{7F}", "\u{2028}", "'", ":", ",", ".", "-1", "1e400",
        ]
        switch Int.random(in: 0...11, using: &self) {
        case 0: return "Bearer \(secret())"
        case 1: return "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.\(secret())"
        default:
            return (0..<Int.random(in: 0...5, using: &self)).map { _ in pieces.randomElement(using: &self) ?? "" }
                .joined()
        }
    }
}
