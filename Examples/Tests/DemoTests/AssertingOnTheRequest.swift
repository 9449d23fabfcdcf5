// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Backends
import Testing

/// How to test what a client asks for: look at the request in the closure that answers it, or make it and send nothing.
@Suite struct AssertingOnTheRequest {
    @Test func signsInAndUsesTheToken() async throws {
        let blog = BlogConnection(
            environment: .test,
            provider: TestConnector { request in
                guard case .auth? = request.route as? BlogRouter else {
                    #expect(request.headers[.authorization] == "Bearer secret")
                    return .json(Author(name: "ted", email: "ted@example.com"))
                }
                #expect(request.method == .post)
                #expect(request.headers[.contentType] == "application/json")
                let credentials = try JSONDecoder().decode(Credentials.self, from: request.body.data())
                #expect(credentials == Credentials(name: "ted", password: "pug"))
                return .json(Session(token: "secret"))
            }
        )

        let ted = try await blog.signedIn(with: Credentials(name: "ted", password: "pug"))

        #expect(try await ted.me().name == "ted")
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
