// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Backends
import Testing

/// How to test what a client makes of failures: by status, by a broken connection, by a body that does not fit, by
/// silence.
@Suite struct WhenThingsGoWrong {
    private func blog(_ answer: TestConnectorResponse) -> BlogConnection<some DataRequestType> {
        BlogConnection(environment: .test, provider: TestConnector { _ in answer })
    }

    @Test func aMissingPostIsAnErrorThatQuotesTheServer() async throws {
        let blog = blog(.json(["error": "There is no such post."], status: 404))

        let error = await #expect(throws: ApiConnectorError.self) { try await blog.post(by: "ted", slug: "lost") }

        #expect(error?.kind == .unacceptableStatus)
        #expect(error?.response?.status == 404)
        #expect(error?.description.contains("There is no such post.") == true)
    }

    @Test func aLostConnectionHasItsKind() async throws {
        let blog = blog(.failure(URLError(.networkConnectionLost)))

        let error = await #expect(throws: ApiConnectorError.self) { try await blog.me() }

        #expect(error?.kind == .connectionLost)
    }

    @Test func aModelThatDoesNotFitSaysWhere() async throws {
        let blog = blog(.json([["title": "Only a title"]]))

        let error = await #expect(throws: ApiConnectorError.self) { try await blog.posts(for: .sampleDay) }

        #expect(error?.kind == .decodingFailed)
        #expect(error?.detail.contains("author") == true)
    }

    @Test func aServerThatNeverAnswersCanBeLeft() async throws {
        let (asked, ask) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let blog = BlogConnection(
            environment: .test,
            provider: TestConnector { _ in
                ask.yield()
                return .never
            }
        )

        let call = Task { try await blog.me() }
        for await _ in asked { break }
        call.cancel()

        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == .cancelled)
    }
}
