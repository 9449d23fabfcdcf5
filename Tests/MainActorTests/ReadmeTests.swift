// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

@Suite struct ReadmeTests {
    @Test func theExampleAnswersOverTheTestConnector() async throws {
        #expect(try await title(of: "tea / café", over: canned) == "Tea / Café")
    }

    @Test func theExampleBuildsTheURLThatTheReadmeShows() {
        let url = live.url(at: .post(author: "ted", slug: "tea / café"))
        #expect(url.absoluteString == "https://blog.example.com:443/authors/ted/posts/tea%20%2F%20caf%C3%A9")
    }
}
