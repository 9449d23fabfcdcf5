// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

enum ChoosingAProviderType {
    @MainActor final class ArticleList {
        private let api: any ApiConnectionType<Blog>
        private(set) var articles: [Article] = []

        init(api: any ApiConnectionType<Blog>) {
            self.api = api
        }

        func load(_ day: Date) async throws(ApiConnectorError) {
            articles = try await api.value(at: .articles(for: day))
        }
    }

    struct SampleProvider: DataRequestType {
        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            ApiResponse(to: request, status: 204)
        }
    }

    struct BlogApi<Provider: DataRequestType>: ApiConnectionType {
        typealias RouterType = Blog

        let environment = Server.production
        let provider: Provider

        func me() async throws(ApiConnectorError) -> User {
            try await value(at: .me)
        }
    }

    @MainActor static func makesBoth() {
        let live = ArticleList(api: NetworkConnector<SystemProvider, Blog>(environment: .production))
        let canned = ArticleList(
            api: NetworkConnector(
                environment: .localhost,
                provider: TestConnector { _ in .json([Article(title: "Tea")]) },
                router: Blog.self
            )
        )
        _ = (live, canned)
    }

    static func chooses(isOffline: Bool) {
        let provider = isOffline ? AnyProvider(SampleProvider()) : AnyProvider(SystemProvider().retrying())
        let api = NetworkConnector(environment: .production, provider: provider, router: Blog.self)
        _ = api
    }
}

extension ApiConnectionType where RouterType == Blog {
    func author() async throws(ApiConnectorError) -> User {
        try await value(at: .me)
    }
}

struct ChoosingAProviderTypeTests {
    @Test func aStoredConnectionHasTheCallsOfAnExtension() async throws {
        let api: any ApiConnectionType<Blog> = NetworkConnector(
            environment: .localhost,
            provider: TestConnector { _ in .status(404) },
            router: Blog.self
        )
        let error = await #expect(throws: ApiConnectorError.self) { try await api.author() }
        #expect(error?.response?.status == 404)
    }
}
