// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

@testable import Inspector

/// Tests of the line that answers an exchange.
///
/// Each line is also code in this file, which proves that it compiles.
struct CannedLineTests {
    private func request(
        _ path: String,
        _ method: ApiConnector.HTTPMethod = .get,
        body: RequestBody = .empty
    ) throws -> ApiRequest {
        var request = ApiRequest(url: try #require(URL(string: "http://localhost\(path)")), method: method)
        request.body = body
        return request
    }

    private func exchange(
        _ request: ApiRequest,
        _ answer: TestConnectorResponse,
        bodyByteCount: Int = 1_000
    ) async throws -> ArchivedExchange {
        let archive = ExchangeArchive(bodyByteCount: bodyByteCount)
        let provider = TestConnector { _ in answer }.archived(in: archive)
        _ = try? await provider.response(for: request).body.collect(upTo: 9_000)
        return try #require(archive.exchanges.first)
    }

    /// The status and the body of a response, or the error's kind and detail.
    private func result(_ request: ApiRequest, _ provider: some DataRequestType) async -> String {
        do throws(ApiConnectorError) {
            let response = try await provider.response(for: request)
            return "\(response.status) " + String(decoding: try await response.body.collect(upTo: 9_000), as: UTF8.self)
        } catch {
            return "\(error.kind): \(error.detail)"
        }
    }

    /// Checks that the line of an exchange is the given code, and that a script with this code answers like the server.
    private func expectLine(
        of request: ApiRequest,
        answered answer: TestConnectorResponse,
        sourceLocation: SourceLocation = #_sourceLocation,
        is code: (Script<Tea>) -> Void
    ) async throws {
        let line = CannedLine(try await exchange(request, answer)).text
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let isCode = source.filter { !$0.isWhitespace }.contains(line.filter { !$0.isWhitespace })
        #expect(isCode, "The line is not code in this file: \(line)", sourceLocation: sourceLocation)
        let script = Script(for: Tea.self, in: .test)
        code(script)
        let wanted = await result(request, TestConnector { _ in answer })
        #expect(await result(request, TestConnector(script)) == wanted, sourceLocation: sourceLocation)
        #expect(await script.end().isEmpty, sourceLocation: sourceLocation)
    }

    private enum Place: String, ApiEnvironment {
        case test = "localhost"
    }

    private enum Tea: String, ApiRouter {
        typealias EnvironmentType = Place
        case tea
    }

    // MARK: - Answers

    @Test func aResponseIsALineThatAnswersTheSame() async throws {
        try await expectLine(of: request("/tea?kind=green"), answered: .json(["name": "green"])) { script in
            script.on(matching: .method(.get), .path("/tea"), .query("kind", "green"))
                .answer(
                    .data(Data(#"{"name":"green"}"#.utf8), status: 200, headers: ["Content-Type": "application/json"])
                )
        }
    }

    @Test func bytesThatAreNoTextAreInBase64() async throws {
        let bytes = Data([0xFF, 0x00])
        try await expectLine(of: request("/", .delete), answered: .data(bytes, status: 500)) { script in
            script.on(matching: .method(.delete), .path("/"))
                .answer(.data(Data(base64Encoded: "/wA=") ?? Data(), status: 500))
        }
    }

    @Test func aFailureIsALineThatFailsTheSame() async throws {
        let error = ApiConnectorError(.timedOut, "no byte within 3 seconds")
        try await expectLine(of: request("/"), answered: .failure(error)) { script in
            script.on(matching: .method(.get), .path("/"))
                .answer(.failure(ApiConnectorError(.timedOut, "no byte within 3 seconds")))
        }
        let other = ApiConnectorError(.init(rawValue: "teapot"), "it is short")
        try await expectLine(of: request("/"), answered: .failure(other)) { script in
            script.on(matching: .method(.get), .path("/"))
                .answer(.failure(ApiConnectorError(.init(rawValue: "teapot"), "it is short")))
        }
    }

    @Test func aBodyThatBreaksOffIsALineThatBreaksOff() async throws {
        let error = ApiConnectorError(.connectionLost, "the server closed the connection")
        let answer = TestConnectorResponse.data(Data("one\ntwo\n".utf8)).failing(.afterByteCount(4), with: error)
        var streamed = try request("/")
        streamed.delivery = .streamed
        try await expectLine(of: streamed, answered: answer) { script in
            script.on(matching: .method(.get), .path("/"))
                .answer(
                    .data(Data("one\n".utf8), status: 200)
                        .failing(
                            .afterByteCount(4),
                            with: ApiConnectorError(.connectionLost, "the server closed the connection")
                        )
                )
        }
    }

    @Test func aCommentSaysThatABodyIsCutOff() async throws {
        let long = RequestBody.text("0123456789")
        let exchange = try await exchange(request("/", .post, body: long), .text("0123456789"), bodyByteCount: 4)
        let lines = CannedLine(exchange).text.split(separator: "\n")
        #expect(
            lines.dropLast() == [
                "// The line does not compare the request's body, which was not kept as a whole.",
                "// The body is cut off. The line has 4 of 10 bytes.",
            ]
        )
        #expect(lines.last?.hasPrefix("script.on(matching: .method(.post), .path(\"/\")).answer(") == true)
    }

    @Test func aCommentSaysThatTheCallerLeft() async throws {
        let archive = ExchangeArchive()
        var streamed = try request("/")
        streamed.delivery = .streamed
        let provider = TestConnector { _ in .chunks([Data("one\n".utf8), Data("two\n".utf8)]) }.archived(in: archive)
        for try await _ in try await provider.response(for: streamed).body { break }
        let text = CannedLine(try #require(archive.exchanges.first)).text
        let comment = "The caller did not read the whole body. Of the part that it read, the line has 4 of 4 bytes."
        #expect(text.hasPrefix("// \(comment)\n"), "\(text)")
    }

    @Test func aRequestThatIsRunningHasNoResponse() async throws {
        let archive = ExchangeArchive()
        let provider = TestConnector { _ in
            #expect(archive.exchanges.map { CannedLine($0).text } == [Self.silence])
            return .status(204)
        }
        _ = try await provider.archived(in: archive).response(for: request("/"))
        #expect(archive.exchanges.count == 1)
        let script = Script(for: Tea.self, in: .test)
        script.on(matching: .method(.get), .path("/")).answer(.never)
        _ = await script.end()
    }

    private static let silence = """
        // No response had arrived.
        script.on(matching: .method(.get), .path("/")).answer(.never)
        """

    // MARK: - Matchers

    @Test func aPathStaysEncoded() async throws {
        try await expectLine(of: request("/%7Bx%7D/a%2Fb/100%25"), answered: .status(204)) { script in
            script.on(matching: .method(.get), .path("/%7Bx%7D/a%2Fb/100%25")).answer(.status(204))
        }
        // Otherwise the line would also answer this request.
        let script = Script(for: Tea.self, in: .test)
        script.on(matching: .method(.get), .path("/%7Bx%7D/a%2Fb/100%25")).answer(.status(204))
        let other = await result(try request("/y/a%2Fb/100%25"), TestConnector(script))
        #expect(other.hasPrefix("unmatched"), "\(other)")
        _ = await script.end()
    }

    @Test func repeatedQueryItemsAreCompared() async throws {
        try await expectLine(of: request("/tea?tag=a&kind=&tag=b"), answered: .status(204)) { script in
            script.on(
                matching: .method(.get),
                .path("/tea"),
                .satisfying(
                    "has the query items tag",
                    {
                        URLComponents(url: $0.url, resolvingAgainstBaseURL: true)?.queryItems?
                            .filter { $0.name == "tag" }
                            .map { $0.value ?? "" } == ["a", "b"]
                    }
                ),
                .query("kind", "")
            )
            .answer(.status(204))
        }
    }

    @Test func postsDifferByTheirBodies() async throws {
        let json = RequestBody.data(
            Data(#"{"name":"green","count":-2,"share":0.5,"tags":[],"more":{},"old":null,"hot":true}"#.utf8),
            mediaType: .json
        )
        try await expectLine(of: request("/tea", .post, body: json), answered: .status(201)) { script in
            script.on(
                matching: .method(.post),
                .path("/tea"),
                .json(["count": -2, "hot": true, "more": [:], "name": "green", "old": nil, "share": 0.5, "tags": []])
            )
            .answer(.status(201))
        }
        let form = RequestBody.data(Data("name=green+tea&tag=a&tag=b".utf8), mediaType: .form)
        try await expectLine(of: request("/tea", .post, body: form), answered: .status(201)) { script in
            script.on(matching: .method(.post), .path("/tea"), .form(["name": "green tea"])).answer(.status(201))
        }
        try await expectLine(of: request("/tea", .put, body: .text("green")), answered: .status(201)) { script in
            script.on(matching: .method(.put), .path("/tea"), .body(Data("green".utf8))).answer(.status(201))
        }
    }

    @Test func aSecretIsNotInTheLine() async throws {
        let body = #"{"name":"ada","password":"hush-4f2a91c7"}"#
        let login = try request(
            "/tea?token=hush-4f2a91c7&kind=green",
            .post,
            body: .data(Data(body.utf8), mediaType: .json)
        )
        try await expectLine(of: login, answered: .status(204)) { script in
            script.on(matching: .method(.post), .path("/tea"), .query("kind", "green"), .json(["name": "ada"]))
                .answer(.status(204))
        }
    }

    @Test(arguments: [
        ("plain", "\"plain\""), ("a \"b\"", "#\"a \"b\"\"#"), ("a\nb\\", "\"a\\nb\\\\\""),
        ("\"# end", "\"\\\"# end\""), ("\u{202E}x\u{1}", "\"\\u{202e}x\\u{1}\""),
    ])
    func aTextIsALiteral(_ text: String, _ literal: String) {
        #expect(CannedLine.literal(text) == literal)
    }
}
