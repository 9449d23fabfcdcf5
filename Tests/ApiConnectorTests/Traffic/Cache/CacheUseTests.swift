// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// A call's use of the cache: the server's response, the stored response, or first one and then the other.
@Suite(.timeLimit(.minutes(10))) struct CacheUseTests {
    private let world = CacheWorld()
}

extension CacheUseTests {
    @Test func reloadSendsARequest() async {
        let api = world.api()
        world.says("one", "max-age=60", ["ETag": "\"1\""])
        #expect(await api.text(use: .reload) == "one")
        #expect(world.requests[0].headers[.cacheControl] == "no-cache")
        world.says("", "max-age=60", ["ETag": "\"1\""], status: 304)
        #expect(await api.text(use: .reload) == "one, validated")
        world.says("two", "max-age=60")
        #expect(await api.text(use: .reload) == "two")
        #expect(await api.text() == "two, fresh")
        #expect(await api.text("/a", ["Cache-Control": "max-age=5"], use: .reload) == "two")
        #expect(world.requests[3].headers[.cacheControl] == "max-age=5")
    }

    @Test func cachedSendsNoRequest() async throws {
        let api = world.api()
        world.says("one", "max-age=60")
        #expect(await api.text(use: .cached) == "notCached 0")
        #expect(await api.text(method: .post, use: .cached) == "notCached 0")
        #expect(await api.text("/a", ["Cache-Control": "only-if-cached"]) == "notCached 0")
        #expect(world.requests.isEmpty)
        #expect(await api.text() == "one")
        world.clock.advance(by: .seconds(1_000_000))
        #expect(await api.text(use: .cached) == "one, stale")
        do throws(ApiConnectorError) {
            _ = try await api.data(at: Endpoint(path: "/b"), options: CallOptions(cacheUse: .cached))
            Issue.record("it was answered")
        } catch {
            #expect(
                error.description
                    == "GET http://api.example.com/b failed (notCached): the call accepts only a cached response, and the "
                    + "cache has no usable one. Make the call without cacheUse: .cached to send it to the server."
            )
        }
    }

    @Test func yieldsTheStoredAndThenTheServersResponse() async throws {
        let api = world.api()
        func values() async throws -> [String] {
            var values: [String] = []
            for try await news in api.cachedThenReloaded(Int.self, at: Endpoint(path: "/a")) {
                values.append("\(news.value) \(news.cacheHit.map { "\($0)" } ?? "server")")
            }
            return values
        }
        world.answers { _ in .json(1, headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""]) }
        #expect(try await values() == ["1 server"])
        world.answers { _ in .status(304) }
        #expect(try await values() == ["1 fresh", "1 validated"])
        world.clock.advance(by: .seconds(100))
        world.answers { _ in .json(2, headers: ["Cache-Control": "max-age=60"]) }
        #expect(try await values() == ["1 stale", "2 server"])
        // A stored response that no longer decodes is omitted.
        world.answers { _ in .json("three", headers: ["Cache-Control": "max-age=60"]) }
        #expect(await api.text(use: .reload) == "\"three\"")
        world.answers { _ in .json(4) }
        #expect(try await values() == ["4 server"])
    }

    @Test func yieldsTheServersResponseOnceWithoutACache() async throws {
        let api = world.api(over: world.server)
        world.answers { _ in .json(1) }
        var values: [Int] = []
        for try await news in api.cachedThenReloaded(Int.self, at: Endpoint(path: "/a")) { values.append(news.value) }
        for try await news in api.cachedThenReloaded(Int.self, at: Endpoint(path: "/a", method: .post)) {
            values.append(news.value)
        }
        #expect(values == [1, 1])
        #expect(world.requests.count == 2)
    }

    @Test func sendsAPostOnceIfItsResponseDoesNotDecode() async throws {
        let api = world.api(over: world.server)
        world.answers { _ in .json("one") }
        let news = api.cachedThenReloaded(Int.self, at: Endpoint(path: "/a", method: .post))
        let error = await #expect(throws: ApiConnectorError.self) { for try await _ in news {} }
        #expect(error?.kind == .decodingFailed)
        #expect(world.requests.count == 1)
    }

    @Test(arguments: [(5, 1), (4, 2)])
    func aStoredBodyMayBeAsLargeAsTheCallAllows(_ limit: Int, _ requestCount: Int) async throws {
        let api = world.api()
        world.says("12345", "max-age=60")
        #expect(await api.text() == "12345")
        let options = CallOptions(maximumBodyByteCount: limit)
        _ = try? await api.data(at: Endpoint(path: "/a"), options: options)
        #expect(world.requests.count == requestCount)
    }

    @Test func aTypedCallYieldsTheStoredAndTheServersResponse() async throws {
        let api = world.api()
        world.answers { _ in .json(1, headers: ["Cache-Control": "max-age=60"]) }
        var values: [Int] = []
        for _ in 0..<2 {
            for try await news in api.cachedThenReloaded(ApiCall<Endpoint<ApiPath>, Int>(Endpoint(path: "/a"))) {
                values.append(news.value)
            }
        }
        #expect(values == [1, 1, 1])
        #expect(world.requests.count == 2)
    }

    @Test func aCallAtAURLYieldsTheStoredAndTheServersResponse() async throws {
        let api = world.api()
        world.answers { _ in .json(1, headers: ["Cache-Control": "max-age=60"]) }
        let url = api.url(at: Endpoint(path: "/a"))
        var hits: [CacheHit?] = []
        for _ in 0..<2 {
            for try await news in api.cachedThenReloaded(Int.self, at: url) { hits.append(news.cacheHit) }
        }
        #expect(hits == [nil, .fresh, nil])
        #expect(world.requests.map(\.url) == [url, url])
    }
}
