// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTestScopes
import ApiConnectorTesting
import Backends
import Testing

/// How to test a client's requests: declare a response for one request, inspect the sent request, or send nothing.
@Suite(.scripted) struct AssertingOnTheRequest {
    @Test func signsInAndUsesTheToken() async throws {
        let credentials = Credentials(name: "ted", password: "pug")
        let script = Script(for: BlogRouter.self, in: .test, configuration: .blog)
        script.on(.auth(credentials)).answer(Session(token: "secret"))
        script.on(matching: .path("/me"), .header(.authorization, "Bearer secret"))
            .answer(Author(name: "ted", email: "ted@example.com"))
        let blog = BlogConnection(environment: .test, provider: TestConnector(script))

        let ted = try await blog.signedIn(with: credentials)

        #expect(try await ted.me().name == "ted")
        #expect(script.requests.map(\.method) == [.post, .get])
        #expect(script.requests.first?.headers[.contentType] == "application/json")
    }

    @Test func publishesTheDraftAsItIs() async throws {
        let draft = Draft(title: "Hello", description: "The first one", publishedAt: .sampleDay)
        let script = Script(for: BlogRouter.self, in: .test, configuration: .blog)
        script.on(.publish(draft)).answer(Post.sample, status: 201, headers: [.location: "/authors/ted/posts/hello"])
        let blog = BlogConnection(environment: .test, provider: TestConnector(script))

        let published = try await blog.publish(draft)

        #expect(published.value == .sample)
        #expect(
            script.transcript == """
                # 1: answered 201 Created
                curl --request POST \\
                  --url http://mytestserver.com/posts \\
                  --header 'Accept: application/json' \\
                  --header 'Content-Type: application/json' \\
                  --data-raw '{"description":"The first one","publishedAt":"2016-11-21T00:00:00Z","title":"Hello"}'
                """
        )
    }

    @Test func asksForTheDayInItsQuery() throws {
        let blog = BlogConnection(environment: .test, provider: TestConnector { _ in .never })

        let request = try blog.request(at: .posts(for: .sampleDay))

        #expect(request.url.absoluteString == "http://mytestserver.com:80/posts?date=2016-11-21")
    }

    @Test(
        arguments: [
            ("hello", "/authors/ted/posts/hello"),
            ("tea / café", "/authors/ted/posts/tea%20%2F%20caf%C3%A9"),
            ("what?", "/authors/ted/posts/what%3F"),
        ]
    )
    func keepsASlugWithinItsSegment(slug: String, path: String) {
        let blog = BlogConnection(environment: .test, provider: TestConnector { _ in .never })

        let url = blog.url(at: .post(author: "ted", slug: slug))

        #expect(url.path(percentEncoded: true) == path)
    }
}
