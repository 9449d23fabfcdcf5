// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTestScopes
import ApiConnectorTesting
import Backends
import Testing

/// How to test a client's handling of failures: error statuses, a broken connection, a body that cannot be decoded, a
/// timeout.
@Suite(.scripted) struct WhenThingsGoWrong {
    private let script = Script(for: BlogRouter.self, in: .test, configuration: .blog)

    private var blog: BlogConnection<some DataRequestType> {
        BlogConnection(environment: .test, provider: TestConnector(script))
    }

    @Test func aMissingPostIsAnErrorThatQuotesTheServer() async throws {
        script.on(.post(author: "ted", slug: "lost"))
            .answer(.json(["error": "There is no such post."], status: 404))

        let error = await #expect(throws: ApiConnectorError.self) { try await blog.post(by: "ted", slug: "lost") }

        #expect(error?.kind == .unacceptableStatus)
        #expect(error?.response?.status == 404)
        #expect(error?.description.contains("There is no such post.") == true)
    }

    @Test func aLostConnectionHasItsKind() async throws {
        script.on(.me).answer(.failure(URLError(.networkConnectionLost)))

        let error = await #expect(throws: ApiConnectorError.self) { try await blog.me() }

        #expect(error?.kind == .connectionLost)
    }

    @Test func aModelThatDoesNotFitSaysWhere() async throws {
        script.on(.posts(for: .sampleDay)).answer(.json([["title": "Only a title"]]))

        let error = await #expect(throws: ApiConnectorError.self) { try await blog.posts(for: .sampleDay) }

        #expect(error?.kind == .decodingFailed)
        #expect(error?.detail.contains("author") == true)
    }

    @Test func aServerThatNeverAnswersCanBeLeft() async throws {
        script.on(.me).answer(.never)
        let blog = blog

        let call = Task { try await blog.me() }
        _ = try await script.nextRequest()
        call.cancel()

        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == .cancelled)
    }

    @Test func anAnswerThatBreaksOffIsNoAnswer() async throws {
        script.on(.me).answer(.json(Author(name: "ted", email: "ted@example.com")).failing(.afterByteCount(10)))

        let error = await #expect(throws: ApiConnectorError.self) { try await blog.me() }

        #expect(error?.kind == .connectionLost)
    }
}
