// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// When a stale response is returned: after a failure of the server, and during a revalidation.
@Suite(.timeLimit(.minutes(10))) struct StaleAnswerTests {
    private let world = CacheWorld()
}

extension StaleAnswerTests {
    @Test func servesAStaleResponseIfTheServerFails() async {
        let api = world.api()
        world.says("one", "max-age=60, stale-if-error=100")
        #expect(await api.text() == "one")
        world.clock.advance(by: .seconds(70))
        for status in [500, 502, 503, 504] as [HTTPStatus] {
            world.says("", "no-store", status: status)
            #expect(await api.text() == "one, stale")
        }
        for code in [URLError.Code.cannotConnectToHost, .networkConnectionLost, .timedOut, .cannotFindHost] {
            world.answers { _ in throw URLError(code) }
            #expect(await api.text() == "one, stale")
        }
        world.answers { _ in throw URLError(.serverCertificateUntrusted) }
        #expect(await api.text() == "secureConnectionFailed 0")
        world.says("", "no-store", status: 501)
        #expect(await api.text() == "unacceptableStatus 501")
        world.clock.advance(by: .seconds(100))
        world.says("", "no-store", status: 503)
        #expect(await api.text() == "unacceptableStatus 503")
    }

    @Test func revalidatesAStaleResponseInTheBackground() async throws {
        let server = HeldServer()
        let provider = server.caching(in: MemoryCacheStorage())
        let api = world.api(over: provider)
        let first = Task { await api.text() }
        try await server.has(1)
        server.answer(0, .status(200, ["Cache-Control": "max-age=60, stale-while-revalidate=30"]))
        #expect(await first.value == "/a as nobody")
        world.clock.advance(by: .seconds(60))
        // One renewal at a time, which no call waits for.
        for _ in 0..<3 { #expect(await api.text() == "/a as nobody, stale") }
        try await server.has(2)
        #expect(server.requests.count == 2)
        server.answer(1, .status(500))
        await eventually { await api.text() == "/a as nobody, stale" && server.requests.count == 3 }
        server.answer(2, .status(200, ["Cache-Control": "max-age=60"]))
        await eventually { await api.text() == "/a as nobody, fresh" }
        #expect(server.requests.count == 3)
    }

    @Test func aRenewalMayTakeLongerThanTheCallThatStartedIt() async throws {
        let server = HeldServer()
        let timeouts = Timeouts(attempt: nil, stall: Timeouts.noLimit, overall: .seconds(5))
        let api = world.api(over: server.caching(in: MemoryCacheStorage()), timeouts: timeouts)
        let first = Task { await api.text() }
        try await server.has(1)
        server.answer(0, .status(200, ["Cache-Control": "max-age=60, stale-while-revalidate=30"]))
        #expect(await first.value == "/a as nobody")
        world.clock.advance(by: .seconds(60))
        #expect(await api.text() == "/a as nobody, stale")
        try await server.has(2)
        world.clock.advance(by: .seconds(10))
        server.answer(1, .status(200, ["Cache-Control": "max-age=60"]))
        await eventually { await api.text() == "/a as nobody, fresh" }
        #expect(server.requests.count == 2)
    }

    @Test func limitsConcurrentBackgroundRevalidations() async throws {
        let server = HeldServer()
        let api = world.api(over: server.caching(in: MemoryCacheStorage()))
        let count = ResponseCache.maximumRenewalCount
        for number in 0...count {
            let first = Task { await api.text("/\(number)") }
            try await server.has(number + 1)
            server.answer(number, .status(200, ["Cache-Control": "max-age=60, stale-while-revalidate=30"]))
            _ = await first.value
        }
        world.clock.advance(by: .seconds(60))
        for number in 0...count { #expect(await api.text("/\(number)") == "/\(number) as nobody, stale") }
        try await server.has(2 * count + 1)
        #expect(server.requests.count == 2 * count + 1)
        server.calmDown()
    }

    @Test func aRenewalBeyondTheLimitDoesNotStart() throws {
        let cache = ResponseCache(MemoryCacheStorage(), maximumBodyByteCount: 1000)
        let timers = TimerQueue.on(world.clock)
        let count = ResponseCache.maximumRenewalCount
        let places = (0...count).compactMap { cache.place(of: .made(path: "/\($0)", on: timers)) }
        try #require(places.count == count + 1)
        #expect(places.map(cache.beginRenewal) == Array(repeating: true, count: count) + [false])
        #expect(!cache.beginRenewal(at: places[0]))
        cache.endRenewal(at: places[0])
        #expect(cache.beginRenewal(at: places[count]))
    }
}
