// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// Cases of a router that have the names of its properties.
///
/// `PropertyNamedRouter` is in a file after this one: Swift 6.3 crashed when it compiled this file first.
struct PropertyNameTests {
    private let api = NetworkConnector(
        environment: Place(),
        provider: TestConnector { _ in .data(Data("good".utf8)) },
        router: PropertyNamedRouter.self
    )

    @Test(arguments: [PropertyNamedRouter.path, .queryItems, .method, .headers, .body])
    func aCaseMayHaveTheNameOfAProperty(_ route: PropertyNamedRouter) async throws {
        #expect(try await api.string(at: route) == "good")
        #expect(try await api.string(at: .headers) == "good")
        let body = PropertyNamedRouter.body
        #expect(body.path == "/body")
        #expect(body.headers == HTTPHeaders())
    }
}
