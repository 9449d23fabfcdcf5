// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

struct RewritingTests {
    private func sent(_ provider: some DataRequestType, at url: URL? = nil) async throws -> ApiRequest {
        let api = NetworkConnector(environment: .localhost, provider: provider, router: Router.self)
        if let url { return try await api.response(at: url).request }
        return try await api.response(at: .me).request
    }

    private let transport = TestConnector { _ in .status(200) }

    @Test func theClosureChangesTheSentRequest() async throws {
        let request = try await sent(
            transport.rewriting { $0.headers["X-Twice"] = ($0.headers["X-Twice"] ?? "") + "1" }
        )
        #expect(request.headers.values("X-Twice") == ["1"])
    }

    @Test func anErrorOfTheClosureFailsTheCallAndNothingIsSent() async throws {
        let provider = TestConnector { _ in
            Issue.record("it was sent")
            return .status(200)
        }
        .rewriting { _ in throw CancellationError() }
        let error = await #expect(throws: ApiConnectorError.self) { _ = try await sent(provider) }
        #expect(error?.kind == .cancelled)
        #expect(error?.request?.url == "http://localhost/me")
    }

    @Test func theCallsOwnFieldsReplaceTheDefaults() async throws {
        let provider = transport.addingHeaders(["X-App": "blog", "Accept": "text/html"])
        let headers = try await sent(provider).headers
        #expect(headers["X-App"] == "blog")
        #expect(headers.values(.accept) == ["*/*"])
    }

    @Test func aSecretFieldIsSentToTheConnectionsOriginOnly() async throws {
        let provider = transport.addingHeaders(["X-Api-Key": "hush", "X-App": "blog"])
        let other = try await sent(provider, at: URL(string: "http://other.example.com/")).headers
        #expect(other["X-App"] == "blog")
        #expect(!other.contains("X-Api-Key"))
        #expect(try await sent(provider).headers["X-Api-Key"] == "hush")
    }
}
