// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTestScopes
import ApiConnectorTesting
import Backends
import Testing

/// How to test a client without a server: replace the provider, and change nothing else.
@Suite(.scripted) struct SwappingTheProvider {
    /// The backend's responses.
    struct OnePost: ResponseProvider {
        func response(for request: ApiRequest) async throws -> TestConnectorResponse {
            .json([Post.sample], encoder: .blog)
        }
    }

    @Test func byATypeAlias() async throws {
        typealias TestConnection = BlogConnection<TestConnector<OnePost>>

        let posts = try await TestConnection(environment: .test).posts(for: .sampleDay)

        #expect(posts == [.sample])
    }

    @Test func byATypeAliasOfTheReadyMadeConnector() async throws {
        typealias TestConnection = NetworkConnector<TestConnector<OnePost>, BlogRouter>

        let connection = TestConnection(environment: .test, configuration: .blog)
        let posts: [Post] = try await connection.value(at: .posts(for: .sampleDay))

        #expect(posts == [.sample])
    }

    @Test func byAClosure() async throws {
        let blog = BlogConnection(
            environment: .test,
            provider: TestConnector { _ in .json(Post.sample, encoder: .blog) }
        )

        let post = try await blog.post(by: "ted", slug: "hello")

        #expect(post == .sample)
    }

    @Test func byAScript() async throws {
        let script = Script(for: BlogRouter.self, in: .test, configuration: .blog)
        script.on(.posts(for: .sampleDay)).answer([Post.sample])
        let blog = BlogConnection(environment: .test, provider: TestConnector(script))

        #expect(try await blog.posts(for: .sampleDay) == [.sample])
    }

    @Test func byAnyProviderThatIsChosenWhenTheProgramStarts() async throws {
        func provider(isCanned: Bool) -> AnyProvider {
            isCanned ? AnyProvider(TestConnector(OnePost())) : AnyProvider(SystemProvider())
        }

        let blog = BlogConnection(environment: .test, provider: provider(isCanned: true))

        #expect(try await blog.posts(for: .sampleDay) == [.sample])
    }
}
