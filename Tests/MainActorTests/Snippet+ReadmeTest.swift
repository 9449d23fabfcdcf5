// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// The README's example for the test.
import ApiConnector
import ApiConnectorTesting
import Testing

@Test func readsTheTitle() async throws {
    let canned = NetworkConnector(
        environment: .production,
        provider: TestConnector { _ in .json(Post(title: "Tea / Café")) },
        router: Blog.self
    )
    #expect(try await title(of: "tea / café", over: canned) == "Tea / Café")
}
