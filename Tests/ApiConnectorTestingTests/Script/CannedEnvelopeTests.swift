// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

private enum Catalog: ApiRouter {
    typealias EnvironmentType = ShopServer
    typealias EnvelopeType = JSONAPIEnvelope<JSONAPIError>
    case tea
    var path: String { "/tea" }
}

private enum Wrapped: ApiRouter {
    typealias EnvironmentType = ShopServer
    typealias EnvelopeType = DataEnvelope<CodedFailure>
    case tea
    var path: String { "/tea" }
}

/// Canned values and failures, and what does not fit the router's envelope.
struct CannedEnvelopeTests {
    private struct Unwritable: Codable, Sendable {
        var number = Double.nan
    }

    @Test func aJSONAPIEnvelopeHasDataOrErrors() {
        typealias Envelope = JSONAPIEnvelope<JSONAPIError>
        #expect(Envelope.body(holding: Data("[1]".utf8)) == Data(#"{"data":[1]}"#.utf8))
        #expect(Envelope.body(reporting: Data("[{}]".utf8)) == Data(#"{"errors":[{}]}"#.utf8))
    }

    @Test func aValueIsInAJSONAPIEnvelope() async throws {
        let script = Script(for: Catalog.self, in: .test)
        script.on(.tea).answer(Tea.green)
        let api = NetworkConnector(environment: .test, provider: TestConnector(script), router: Catalog.self)
        #expect(try await api.value(Tea.self, at: .tea) == .green)
        #expect(await script.end().isEmpty)
    }

    @Test func aValueThatDoesNotEncodeIsAnIssueAtItsLine() async throws {
        let script = Script(for: Wrapped.self, in: .test)
        script.on(.tea).answer(Unwritable())
        let issue = try #require(script.issues.first)
        #expect(issue.kind == .unfit)
        #expect(issue.description.contains("the value of type Unwritable does not encode as JSON: "))
    }

    @Test func aRequestOfARouteWithoutAnAnswerIsAnIssue() async throws {
        let script = Script(for: Wrapped.self, in: .test)
        _ = script.on(.tea)
        let api = NetworkConnector(environment: .test, provider: TestConnector(script), router: Wrapped.self)
        let error = await #expect(throws: ApiConnectorError.self) { try await api.value(Tea.self, at: .tea) }
        #expect(error?.kind == .unmatched)
        #expect(error?.detail.contains("which has no answer; add .answer(…)") == true)
        _ = await script.end()
    }
}
