// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import ApiConnectorTraffic
import Synchronization
import Testing

enum Caching {
    static func wraps(session: RefreshableCredentials, log: CallLog, folder: URL) {
        let provider = SystemProvider()
            .retrying()
            .deduplicating()
            .caching(in: DiskCacheStorage(folder: folder))
            .authenticating(by: session)
            .observing(by: log)
        _ = provider
    }

    static func cachesSomeRoutes(session: RefreshableCredentials) {
        let plain = SystemProvider().retrying()
        let cached = plain.caching(in: MemoryCacheStorage())
        let chosen = plain.routing { request in request.routeName == "/categories" ? cached : nil }
        let some = chosen.authenticating(by: session)
        _ = some
    }

    static func asks(
        _ api: NetworkConnector<AnyProvider, Blog>,
        today: Date
    ) async throws {
        func show(_ articles: [Article], isPreliminary: Bool) {}
        let articles: [Article] = try await api.value(
            at: .articles(for: today),
            options: CallOptions(cacheUse: .reload)
        )
        _ = articles
        for try await news in api.cachedThenReloaded([Article].self, at: .articles(for: today)) {
            show(news.value, isPreliminary: news.cacheHit != nil && news.cacheHit != .validated)
        }
    }

    final class DictionaryStorage: CacheStorage {
        private let records = Mutex<[CacheKey: Data]>([:])
        let answersWithoutWaiting = true
        let digestKey = Data((0..<32).map { _ in UInt8.random(in: 0...255) })

        func record(for key: CacheKey) async -> Data? {
            records.withLock { $0[key] }
        }

        func update(_ key: CacheKey, _ change: @escaping @Sendable (Data?) -> Data?) {
            records.withLock { records in
                records[key] = change(records[key])
                // A storage is bounded.
                if records.count > 100, let other = records.keys.first(where: { $0 != key }) { records[other] = nil }
            }
        }

        func removeAll() {
            records.withLock { $0 = [:] }
        }
    }

    @Test static func keepsRecordsInAStorageOfOnesOwn() async throws {
        let provider = TestConnector { _ in .json(1, headers: ["Cache-Control": "max-age=60"]) }
            .caching(in: DictionaryStorage())
        let request = ApiRequest(url: try #require(URL(string: "http://h/")))
        #expect(try await provider.response(for: request).cacheHit == nil)
        #expect(try await provider.response(for: request).cacheHit == .fresh)
    }
}
