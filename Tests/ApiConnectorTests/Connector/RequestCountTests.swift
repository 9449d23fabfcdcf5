// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import ApiConnectorTraffic
import Testing

/// A call asks the router and encodes the body once for each request that it sends.
@Suite(.timeLimit(.minutes(1))) struct RequestCountTests {
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
        var path: String { "/a" }
        var body: RequestBody { .json(CountedBody(counts: counts)) }
        var method: HTTPMethod {
            counts.countMethod()
            return .put
        }
    }

    private let counts = Counts()

    private var api: NetworkConnector<AnyProvider, CountedRoute> {
        let server = TestConnector { _ in .json([1]) }
        return NetworkConnector(environment: Place(), provider: AnyProvider(server))
    }

    @Test func aValueAsksOnce() async throws {
        _ = try await api.value([Int].self, at: CountedRoute(counts: counts))
        #expect(counts.all == [1, 1])
    }

    @Test func aPageAsksOnce() async throws {
        for try await page in api.pages(of: [Int].self, from: CountedRoute(counts: counts)) { #expect(page == [1]) }
        #expect(counts.all == [1, 1])
    }

    @Test func aDownloadAsksOnce() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "file")
        for try await _ in api.download(at: CountedRoute(counts: counts), to: file) {}
        #expect(counts.all == [1, 1])
    }

    @Test func whatIsCachedAndFreshAsksOnceWithoutACache() async throws {
        for try await news in api.cachedThenFresh([Int].self, at: CountedRoute(counts: counts)) {
            #expect(news.value == [1])
        }
        #expect(counts.all == [1, 1])
    }
}
