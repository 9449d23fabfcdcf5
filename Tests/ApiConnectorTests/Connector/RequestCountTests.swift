// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import ApiConnectorTraffic
import Foundation
import Testing

/// A call asks the router and encodes the body once for each request that it sends.
@Suite(.timeLimit(.minutes(10))) struct RequestCountTests {
    private let counts = Counts()
}

extension RequestCountTests {
    /// Counts what a call asks of the router.
    private final class Counts: Sendable {
        private let counts = Locked((methods: 0, encodings: 0))

        var all: [Int] { counts.withLock { [$0.methods, $0.encodings] } }

        func countMethod() { counts.withLock { $0.methods += 1 } }

        func countEncoding() { counts.withLock { $0.encodings += 1 } }
    }

    private struct CountedBody: Encodable, Sendable {
        let counts: Counts

        func encode(to encoder: any Encoder) throws {
            counts.countEncoding()
            var container = encoder.singleValueContainer()
            try container.encode("x")
        }
    }

    private struct CountedRoute: ApiRouter {
        typealias EnvironmentType = Place

        let counts: Counts
        var isRead = false
        var path: String { "/a" }
        var body: RequestBody { isRead ? .empty : .json(CountedBody(counts: counts)) }
        var method: HTTPMethod {
            counts.countMethod()
            return isRead ? .get : .put
        }
    }

    private var api: NetworkConnector<AnyProvider, CountedRoute> {
        let server = TestConnector { _ in .json([1]) }
        return NetworkConnector(environment: Place(), provider: AnyProvider(server))
    }

    @Test func aValueSendsOneRequest() async throws {
        _ = try await api.value([Int].self, at: CountedRoute(counts: counts))
        #expect(counts.all == [1, 1])
    }

    @Test func aPageSendsOneRequest() async throws {
        for try await page in api.pages(of: [Int].self, from: CountedRoute(counts: counts)) { #expect(page == [1]) }
        #expect(counts.all == [1, 1])
    }

    @Test func aDownloadSendsOneRequest() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "file")
        for try await _ in api.download(at: CountedRoute(counts: counts), to: file) {}
        #expect(counts.all == [1, 1])
    }

    @Test func aDownloadSendsOneRequestIfTheServerIgnoresTheRange() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "file")
        let requests = Locked(0)
        let server = TestConnector { request in
            let number = requests.withLock { count in
                count += 1
                return count
            }
            let whole = TestConnectorResponse.data(Data("abcdef".utf8), headers: ["ETag": "\"1\""])
            switch number {
            case 1: return whole.failing(.afterByteCount(3), with: ApiConnectorError(.connectionLost, "it broke"))
            case 2:
                #expect(request.headers[.range] == "bytes=3-")
                return .status(416)
            default: return whole
            }
        }
        let api = NetworkConnector<_, CountedRoute>(environment: Place(), provider: server)
        let route = CountedRoute(counts: counts, isRead: true)
        let error = await #expect(throws: ApiConnectorError.self) {
            for try await _ in api.download(at: route, to: file, resuming: nil) {}
        }
        #expect(error?.kind == .connectionLost)
        #expect(counts.all == [1, 0])
        for try await _ in api.download(at: route, to: file, resuming: nil) {}
        #expect(counts.all == [2, 0])
        #expect(requests.withLock { $0 } == 3)
        #expect(try Data(contentsOf: file) == Data("abcdef".utf8))
    }

    @Test func cachedAndFreshSendsOneRequestForAnUncacheableResponse() async throws {
        let server = TestConnector { _ in .json([1]) }.caching(in: MemoryCacheStorage())
        let api = NetworkConnector<_, CountedRoute>(environment: Place(), provider: server)
        for try await news in api.cachedThenReloaded([Int].self, at: CountedRoute(counts: counts)) {
            #expect(news.value == [1])
        }
        #expect(counts.all == [1, 1])
    }

    /// One request asks the cache, and the other one asks the server.
    @Test func theCacheAndTheServerGetARequestEach() async throws {
        let server = TestConnector { _ in .json([1], headers: ["Cache-Control": "max-age=60"]) }
            .caching(in: MemoryCacheStorage())
        let api = NetworkConnector<_, CountedRoute>(environment: Place(), provider: server)
        let route = CountedRoute(counts: counts, isRead: true)
        for requestCount in [2, 4] {
            for try await news in api.cachedThenReloaded([Int].self, at: route) { #expect(news.value == [1]) }
            #expect(counts.all == [requestCount, 0])
        }
    }

    @Test func cachedAndFreshSendsOneRequestWithoutACache() async throws {
        for try await news in api.cachedThenReloaded([Int].self, at: CountedRoute(counts: counts)) {
            #expect(news.value == [1])
        }
        #expect(counts.all == [1, 1])
    }
}
