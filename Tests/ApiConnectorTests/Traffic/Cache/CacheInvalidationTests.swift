// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// Which records the cache removes after an unsafe request.
@Suite(.timeLimit(.minutes(10))) struct CacheInvalidationTests {
    private let world = CacheWorld()
}

extension CacheInvalidationTests {
    @Test(arguments: [HTTPMethod.post, .put, .patch, .delete, "PURGE"])
    func anUnsafeMethodInvalidatesStoredResponses(_ method: HTTPMethod) async {
        let api = world.api()
        for path in ["/a", "/b", "/c", "/d"] as [ApiPath] {
            world.says("one", "private, max-age=60")
            #expect(await api.text(path) == "one")
            #expect(await api.text(path, ["Authorization": "Bearer 1"]) == "one")
        }
        world.says("", "no-store", ["Location": "/b", "Content-Location": "http://api.example.com/c"], status: 201)
        _ = await api.text("/a", method: method)
        world.says("two", "private, max-age=60")
        for path in ["/a", "/b", "/c"] as [ApiPath] {
            #expect(await api.text(path) == "two")
            #expect(await api.text(path, ["Authorization": "Bearer 1"]) == "two")
        }
        #expect(await api.text("/d") == "one, fresh")
    }

    @Test func anUnsafeMethodInvalidatesNoOtherOriginAndNothingAfterARefusal() async {
        let api = world.api()
        world.says("one", "max-age=60")
        #expect(await api.text() == "one")
        #expect(await api.text("/b") == "one")
        world.says("", "no-store", ["Location": "http://other/a"], status: 403)
        #expect(await api.text("/a", method: .post) == "unacceptableStatus 403")
        world.says("", "no-store", ["Location": "https://api.example.com/b"], status: 201)
        _ = await api.text("/c", method: .post)
        #expect(await api.text() == "one, fresh")
        #expect(await api.text("/b") == "one, fresh")
        // If the response is lost, the client cannot know whether the request has changed the resource.
        world.answers { _ in throw URLError(.networkConnectionLost) }
        #expect(await api.text("/a", method: .post) == "connectionLost 0")
        world.says("two", "max-age=60")
        #expect(await api.text() == "two")
    }

    @Test(arguments: [("a", 1, false), ("x", 1, true), ("x", ResponseCache.maximumInvalidationCount + 1, false)])
    func storesNoResponseRequestedBeforeAnInvalidation(name: String, count: Int, isStored: Bool) async throws {
        let server = HeldServer()
        let api = world.api(over: server.caching(in: MemoryCacheStorage()))
        let get = Task { await api.text() }
        try await server.has(1)
        for number in 1...count {
            let post = Task { await api.text("/\(number > 1 ? "\(name)\(number)" : name)", method: .post) }
            try await server.has(number + 1)
            server.answer(number)
            _ = await post.value
        }
        server.answer(0, .status(200, ["Cache-Control": "max-age=60"]))
        _ = await get.value
        #expect(await api.text(use: .cached) == (isStored ? "/a as nobody, fresh" : "notCached 0"))
        let next = Task { await api.text(use: .reload) }
        try await server.has(count + 2)
        server.answer(count + 1, .status(200, ["Cache-Control": "max-age=60"]))
        #expect(await next.value == "/a as nobody")
        #expect(await api.text(use: .cached) == "/a as nobody, fresh")
    }
}
