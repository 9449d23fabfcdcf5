// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

private enum Shop: String, ApiRouter {
    typealias EnvironmentType = ShopHost
    case teas = "/teas"
}

private enum ShopHost: String, ApiEnvironment {
    case test = "shop.example.com"
}

private struct ShopConnection<Provider: DataRequestType>: ApiConnectionType {
    typealias RouterType = Shop
    let environment = ShopHost.test
    let provider: Provider
}

/// A view model that stores a connection without a type parameter, so that a test can replace the provider.
@MainActor private final class TeaList {
    private let api: any ApiConnectionType<Shop>
    private(set) var names: [String] = []

    init(api: any ApiConnectionType<Shop>) { self.api = api }

    func load() async throws(ApiConnectorError) {
        names = try await api.value([String].self, at: .teas)
    }

    func watch() async throws -> [String] {
        var seen: [String] = []
        for try await name in api.stream(of: String.self, at: .teas, as: .elements) { seen.append(name) }
        return seen
    }

    func load(_ completion: @escaping @MainActor (Result<[String], ApiConnectorError>) -> Void) {
        api.value([String].self, at: .teas) { result in completion(result) }
    }

    var url: URL { api.url(at: .teas) }
}

@MainActor struct StoredConnectionTests {
    private let provider = TestConnector { _ in .json(["green", "black"]) }

    @Test func aViewModelStoresAnyConnectionOfItsRouter() async throws {
        let lists = [
            TeaList(api: ShopConnection(provider: provider)),
            TeaList(api: NetworkConnector(environment: .test, provider: provider.retrying(), router: Shop.self)),
            TeaList(api: NetworkConnector(environment: .test, provider: AnyProvider(provider), router: Shop.self)),
        ]
        for list in lists {
            try await list.load()
            #expect(list.names == ["green", "black"])
            #expect(try await list.watch() == ["green", "black"])
            #expect(list.url.path == "/teas")
        }
    }

    @Test func aProviderOfAnyTypeIsChosenAtRunTime() async throws {
        let chosen: any DataRequestType = provider
        let list = TeaList(api: ShopConnection(provider: AnyProvider(chosen)))
        try await list.load()
        #expect(list.names == ["green", "black"])
    }
}
