// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// Claims of the guides' text, outside their code blocks.
struct GuideClaimTests {
    @Test func theQuotedErrorIsWordForWordTheLibrarys() async throws {
        let guide = CodeBlockTests.root.appending(
            path: "Sources/ApiConnector/Documentation.docc/Guides/HandlingErrors.md"
        )
        let text = try String(contentsOf: guide, encoding: .utf8)
        let api = NetworkConnector(
            environment: .production,
            provider: TestConnector { _ in .json(["error": "There is no article “lost” by ted."], status: 404) },
            router: Blog.self
        )

        let error = await #expect(throws: ApiConnectorError.self) {
            try await api.value(Article.self, at: .article(author: "ted", slug: "lost"))
        }

        let description = try #require(error?.description)
        #expect(text.contains("```text\n\(description)\n```"), "\(description)")
    }

    @Test func namesRoutesAsInTheTable() throws {
        func name(_ route: some ApiRouter) throws -> String? {
            let url = try #require(URL(string: "http://localhost"))
            return ApiRequest(url: url, route: route).routeName
        }
        #expect(try name(DefiningRouters.Notes.note(folder: "a", number: 1)) == "/folders/{}/notes/{}")
        #expect(try name(DefiningRouters.Notes.file(at: "/a/b")) == "{}")
        #expect(try name(DefiningRouters.Health.live) == "live")
    }

    @Test func keepsTheSlashesOfAnEncodedPath() {
        let url = DefiningRouters.Notes.file(at: "/a%2Fb/c?d").url(for: .production)
        #expect(url.absoluteString == "https://api.example.com/v1/a%2Fb/c%3Fd")
    }

    @Test(
        arguments: [
            (#"{"result": {"items": ["tea"]}}"#, 200, "tea"),
            (#"{"reason": "closed"}"#, 200, "closed"),
            (#"{"reason": "closed"}"#, 503, "closed"),
            ("{}", 200, "decodingFailed"),
        ] as [(String, HTTPStatus, String)]
    )
    func theEnvelopeOfTheGuideOpens(body: String, status: HTTPStatus, expected: String) async {
        enum Route: String, ApiRouter {
            typealias EnvironmentType = Server
            typealias EnvelopeType = HandlingErrors.StatusEnvelope
            case basket
        }
        let api = NetworkConnector(
            environment: .localhost,
            provider: TestConnector { _ in .data(Data(body.utf8), status: status) },
            router: Route.self
        )

        let seen =
            switch await api.outcome(HandlingErrors.Basket.self, at: .basket) {
            case .success(let basket): basket.items.joined()
            case .backendFailure(let failure, _): failure.reason
            case .failure(let error): error.kind.rawValue
            }

        #expect(seen == expected)
    }

    @Test func aWrapperSeesEachHop() async throws {
        let (lines, add) = AsyncStream.makeStream(of: String.self)
        let provider = TestConnector { request in
            request.url.path() == "/me" ? .status(302, headers: [.location: "/you"]) : .json(["name": "Ada"])
        }
        let api = NetworkConnector(
            environment: .production,
            provider: TheLifeOfARequest.Traced(wrapped: provider, write: { add.yield($0) }),
            router: Blog.self
        )

        #expect(try await api.value(User.self, at: .me).name == "Ada")

        add.finish()
        let seen = await lines.reduce(into: []) { $0.append($1) }
        #expect(seen == ["GET /me: 302 Found", "GET /me: 200 OK"])
    }
}
