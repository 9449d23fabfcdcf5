// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

struct ReadmeTests {
    @Test func theExampleBuildsTheURLThatTheReadmeShows() {
        let url = live.url(at: .post("tea / café"))
        #expect(url.absoluteString == "https://blog.example.com:443/posts/tea%20%2F%20caf%C3%A9")
    }
}
