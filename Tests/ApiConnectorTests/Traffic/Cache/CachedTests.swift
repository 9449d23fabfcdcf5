// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// `cached` through a connection: served responses, stored responses and events.
@Suite(.timeLimit(.minutes(10))) struct CachedTests {
    private let world = CacheWorld()
}

extension CachedTests {
    @Test func servesAFreshResponse() async throws {
        let api = world.api()
        world.says("one", "max-age=60", ["X-A": "b"])
        #expect(await api.text() == "one")
        world.says("two", "max-age=60")
        world.clock.advance(by: .seconds(59))
        let response = try await api.response(at: Endpoint(path: "/a"))
        #expect(try await response.body.collect(upTo: 10) == Data("one".utf8))
        #expect(response.cacheHit == .fresh)
        #expect(response.headers["Age"] == "59")
        #expect(response.headers["X-A"] == "b")
        #expect(world.hits == ["served from the cache: fresh"])
        #expect(world.requests.count == 1)
        world.clock.advance(by: .seconds(1))
        #expect(await api.text() == "two")
    }

    /// Another process has changed the record: only its body, only a field, or both.
    @Test(arguments: [("one", "two", "1", "1"), ("one", "one", "1", "2"), ("one", "three", "1", "22")])
    func servesARecordThatAnotherProcessHasChanged(
        old: String,
        new: String,
        oldTag: String,
        newTag: String
    ) async throws {
        let storage = MemoryCacheStorage()
        let (api, other) = (world.api(storage: storage), world.api(storage: storage))
        world.says(old, "max-age=60", [.etag: oldTag])
        #expect(await api.text() == old)
        #expect(await api.text() == "\(old), fresh")
        world.says(new, "max-age=60", [.etag: newTag])
        #expect(await other.text(use: .reload) == new)
        for _ in 0..<2 { #expect(await api.text() == "\(new), fresh") }
        #expect(try await api.response(at: Endpoint(path: "/a")).headers[.etag] == newTag)
        #expect(world.requests.count == 2)
    }

    @Test func theTotalsSayThatACallWasAHit() async throws {
        let metrics = CallMetrics()
        let lines = EventLog<String>()
        let api = world.api(
            over: world.server.caching(in: MemoryCacheStorage()).observing(by: metrics)
                .observing(by: CallLog { _, line in lines.note(line) })
        )
        world.says("one", "max-age=60, stale-while-revalidate=1", [.etag: "1"])
        #expect(await api.text() == "one")
        #expect(await api.text() == "one, fresh")
        world.clock.advance(by: .seconds(62))
        world.answers { _ in .status(304, headers: [.etag: "1"]) }
        #expect(await api.text() == "one, validated")
        let totals = world.events.events.compactMap { event in
            if case .finished(let totals) = event.kind { totals } else { nil }
        }
        #expect(totals.map(\.cacheHit) == [nil, .fresh, .validated])
        #expect(totals.map(\.attemptCount) == [1, 0, 1])
        try #require(totals.count == 3)
        #expect("\(totals[0])" == "200 OK after 0.0 seconds, 3 bytes")
        #expect("\(totals[1])" == "200 OK after 0.0 seconds, 3 bytes from the cache (fresh)")
        #expect(metrics.snapshot.values.map(\.attemptCount) == [2])
        try #require(lines.events.count == 3)
        #expect(lines.events[0].contains("200 OK, 3 bytes in 0.0 ms ("))
        #expect(lines.events[1].contains("200 OK, 3 bytes from the cache (fresh) in 0.0 ms ("))
    }

    @Test func theHeadOfAValueHasItsCacheHit() async throws {
        let api = world.api()
        world.answers { _ in .json(7, headers: ["Cache-Control": "max-age=60"]) }
        for hit in [nil, CacheHit.fresh] {
            let response = try await api.response(of: Int.self, at: Endpoint(path: "/a"))
            #expect(response.value == 7)
            #expect(response.cacheHit == hit)
        }
    }

    @Test func servesAStreamFromAStoredResponse() async throws {
        let api = world.api()
        world.says("1\n2\n", "max-age=60", ["Content-Type": "application/jsonl"])
        #expect(await api.text() == "1\n2\n")
        var values: [Int] = []
        for try await value in api.stream(of: Int.self, at: Endpoint(path: "/a")) { values.append(value) }
        #expect(values == [1, 2])
        #expect(world.requests.count == 1)
    }

    @Test func doesNotStoreAStreamedBody() async throws {
        let api = world.api()
        world.answers { _ in
            let feed = BodyFeed()
            Task {
                try? await feed.send(Data("1\n".utf8))
                feed.finish()
            }
            return .feed(feed, headers: ["Cache-Control": "max-age=60", "Content-Type": "application/jsonl"])
        }
        for _ in 0..<2 {
            var values: [Int] = []
            for try await value in api.stream(of: Int.self, at: Endpoint(path: "/a")) { values.append(value) }
            #expect(values == [1])
        }
        #expect(world.requests.count == 2)
    }

    @Test func respectsTheSizeLimitsOfTheCacheAndTheCall() async throws {
        let api = world.api(over: world.server.caching(in: MemoryCacheStorage(), maximumBodyByteCount: 3))
        world.says("four", "max-age=60")
        for _ in 0..<2 { #expect(await api.text() == "four") }
        world.says("one", "max-age=60")
        #expect(await api.text() == "one")
        #expect(await api.text() == "one, fresh")
        do throws(ApiConnectorError) {
            _ = try await api.data(at: Endpoint(path: "/a"), options: CallOptions(maximumBodyByteCount: 2))
            Issue.record("it was answered")
        } catch {
            #expect(error.kind == .bodyTooLarge)
        }
    }

    @Test func storesACacheableRedirect() async {
        let api = world.api()
        world.answers { request in
            guard request.url.path() == "/a" else { return .data(Data("there".utf8)) }
            return .status(301, headers: ["Location": "/b", "Cache-Control": "max-age=60"])
        }
        for _ in 0..<2 { #expect(await api.text() == "there") }
        #expect(world.requests.map { $0.url.path() } == ["/a", "/b", "/b"])
    }

    @Test func aRefreshBypassesTheCache() async throws {
        let provider = world.server.caching(in: MemoryCacheStorage())
        world.says("one", "max-age=60")
        let url = try #require(URL(string: "http://h/a"))
        for _ in 0..<2 {
            // A request that is made in a refresh belongs to it.
            let request = await ApiRequest.markingCredentialRefresh(of: world) { ApiRequest(url: url) }
            #expect(!request.isCredentialRefresh)
            let status = await ApiRequest.markingCredentialRefresh(of: world) {
                let request = ApiRequest(url: url)
                #expect(request.isCredentialRefresh)
                return try? await provider.response(for: request).status
            }
            #expect(status == 200)
        }
        #expect(world.requests.count == 2)
    }

    @Test(arguments: [false, true]) func aHangingStorageDoesNotBlockACall(isCancelled: Bool) async throws {
        let storage = HangingStorage()
        let limits = isCancelled ? Timeouts.unlimited : Timeouts(stall: Timeouts.noLimit, overall: .seconds(5))
        let api = world.api(over: world.server.caching(in: storage), timeouts: limits)
        let call = Task { await api.text() }
        try await storage.asked.opened()
        if isCancelled { call.cancel() } else { world.clock.advance(by: .seconds(5)) }
        #expect(await call.value == (isCancelled ? "cancelled 0" : "deadlineExceeded 0"))
        storage.end.open()
    }

    private final class HangingStorage: CacheStorage {
        let digestKey = Data()
        let (asked, end) = (Gate(), Gate())

        func record(for key: CacheKey) async -> Data? {
            asked.open()
            try? await end.opened()
            return nil
        }

        func update(_ key: CacheKey, _ change: @escaping @Sendable (Data?) -> Data?) {}
        func removeAll() {}
    }
}
