// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import ApiConnectorTraffic
import Testing

struct RoutedTests {
    private static func named(_ name: String) -> TestConnector<ClosureResponses> {
        TestConnector { _ in .data(Data(name.utf8)) }
    }

    private func answerer(of url: String, by provider: some DataRequestType) async throws -> String {
        let request = ApiRequest(url: try #require(URL(string: url)))
        return String(decoding: try await provider.response(for: request).body.collect(upTo: 100), as: UTF8.self)
    }

    @Test func aClosureChoosesTheProviderOfSomeRequests() async throws {
        let uploads = Self.named("uploads")
        let provider = Self.named("main").routing { $0.url.path().hasPrefix("/upload") ? uploads : nil }
        #expect(try await answerer(of: "http://a/upload/1", by: provider) == "uploads")
        #expect(try await answerer(of: "http://a/item/1", by: provider) == "main")
    }

    @Test(arguments: [
        ("https://images.example.com/a.png", "images"), ("https://IMAGES.example.com:443/a.png", "images"),
        ("http://images.example.com/a.png", "main"), ("https://images.example.com:444/a.png", "main"),
        ("https://xn--bcher-kva.example/", "books"), ("https://b\u{FC}cher.example/", "books"),
        ("https://api.example.com/", "main"),
    ])
    func eachOriginHasItsProvider(_ url: String, _ name: String) async throws {
        let provider = Self.named("main").routing([
            try #require(URL(string: "https://images.example.com/ignored")): Self.named("images"),
            try #require(URL(string: "https://b\u{FC}cher.example")): Self.named("books"),
        ])
        #expect(try await answerer(of: url, by: provider) == name)
    }

    @Test func aFailureOfTheChosenProviderIsDelivered() async throws {
        let provider = Self.named("main").routing { _ in TestConnector { _ in .failing(.cannotConnect) } }
        let url = try #require(URL(string: "http://a/"))
        let error = await #expect(throws: ApiConnectorError.self) {
            try await provider.response(for: ApiRequest(url: url))
        }
        #expect(error?.kind == .cannotConnect)
    }
}
