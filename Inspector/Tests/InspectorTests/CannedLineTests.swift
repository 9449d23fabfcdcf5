// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

@testable import Inspector

/// Tests of the line that answers an exchange.
@Suite struct CannedLineTests {
    private func line(_ url: String, _ answer: TestConnectorResponse) async throws -> String {
        let archive = ExchangeArchive()
        let request = ApiRequest(url: try #require(URL(string: url)))
        _ = try? await TestConnector { _ in answer }.archived(in: archive).response(for: request)
        return CannedLine(try #require(archive.exchanges.first)).text
    }

    @Test func aResponseIsALineThatAnswersTheSame() async throws {
        let text = try await line("http://localhost/tea?kind=green", .json(["name": "green"]))
        let literal = ##"#"{"name":"green"}"#"##
        #expect(
            text == """
                script.on(matching: .method(.get), .path("/tea"), .query("kind", "green"))\
                .answer(.data(Data(\(literal).utf8), status: 200, headers: ["Content-Type": "application/json"]))
                """
        )
        // The same line as code, which proves that it compiles.
        let script = Script(for: Tea.self, in: .test)
        script.on(matching: .method(.get), .path("/tea"), .query("kind", "green")).answer(
            .data(Data(#"{"name":"green"}"#.utf8), status: 200, headers: ["Content-Type": "application/json"])
        )
        let api = NetworkConnector(environment: .test, provider: TestConnector(script), router: Tea.self)
        #expect(try await api.value([String: String].self, at: .tea) == ["name": "green"])
        #expect(await script.end().isEmpty)
    }

    private enum Place: String, ApiEnvironment {
        case test = "localhost"
    }

    private enum Tea: String, ApiRouter {
        typealias EnvironmentType = Place
        case tea
        var queryItems: [URLQueryItem]? { [URLQueryItem(name: "kind", value: "green")] }
    }

    @Test func aSecretIsNotInTheLine() async throws {
        let text = try await line("http://localhost/tea?token=hush-4f2a91c7", .status(204))
        #expect(text == #"script.on(matching: .method(.get), .path("/tea")).answer(.status(204))"#)
    }

    @Test func aFailureIsALineThatFails() async throws {
        let text = try await line("http://localhost/", .failure(ApiConnectorError(.timedOut, "too late")))
        #expect(text.contains(".answer(.failure(ApiConnectorError(.timedOut, "))
    }

    @Test(arguments: [
        ("plain", "\"plain\""), ("a \"b\"", "#\"a \"b\"\"#"), ("a\nb\\", "\"a\\nb\\\\\""),
        ("\"# end", "\"\\\"# end\""), ("\u{202E}x\u{1}", "\"\\u{202e}x\\u{1}\""),
    ])
    func aTextIsALiteral(_ text: String, _ literal: String) {
        #expect(CannedLine.literal(text) == literal)
    }
}
