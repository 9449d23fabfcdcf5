// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// How a stale record is revalidated, and how the server's response changes the record.
@Suite(.timeLimit(.minutes(10))) struct CacheValidationTests {
    private let world = CacheWorld()
}

extension CacheValidationTests {
    @Test func revalidatesAStaleResponse() async throws {
        let api = world.api()
        let changed = CacheRulesTests.yearBefore
        world.says(
            "one",
            "max-age=60",
            ["ETag": "\"1\"", "Last-Modified": changed, "X-A": "old", "X-B": "kept", "Age": "3"]
        )
        #expect(await api.text() == "one")
        world.clock.advance(by: .seconds(100))
        world.says(
            "",
            "max-age=90",
            ["ETag": "\"1\"", "X-A": "new", "Set-Cookie": "a=b", "Content-Length": "0"],
            status: 304
        )
        let response = try await api.response(at: Endpoint(path: "/a"))
        #expect(response.status == 200)
        #expect(response.cacheHit == .validated)
        #expect(try await response.body.collect(upTo: 10) == Data("one".utf8))
        #expect(world.requests[1].headers[.ifNoneMatch] == "\"1\"")
        #expect(world.requests[1].headers["If-Modified-Since"] == changed)
        #expect(response.headers["X-A"] == "new")
        #expect(response.headers["X-B"] == "kept")
        #expect(response.headers[.setCookie] == "a=b")
        #expect(response.headers["Age"] == nil)
        #expect(world.hits == ["served from the cache: validated"])
        // From then on it is good for another 90 seconds; the cookie was for the one who asked.
        world.clock.advance(by: .seconds(89))
        let later = try await api.response(at: Endpoint(path: "/a"))
        #expect(later.cacheHit == .fresh)
        #expect(later.headers[.setCookie] == nil)
        #expect(world.requests.count == 2)
    }

    @Test func replacesAChangedResponse() async {
        let api = world.api()
        world.says("one", "no-cache", ["ETag": "\"1\""])
        #expect(await api.text() == "one")
        world.says("two", "no-cache", ["ETag": "\"2\""])
        #expect(await api.text() == "two")
        world.says("", "no-cache", ["ETag": "\"2\""], status: 304)
        #expect(await api.text() == "two, validated")
        #expect(world.requests.map { $0.headers[.ifNoneMatch] } == [nil, "\"1\"", "\"2\""])
    }

    @Test func sendsAnUnconditionalRequestIfA304IsAboutAnotherResponse() async {
        let api = world.api()
        world.says("one", "no-cache", ["ETag": "\"1\""])
        #expect(await api.text() == "one")
        world.answers { request in
            guard request.headers.contains(.ifNoneMatch) else { return .data(Data("two".utf8)) }
            return .status(304, headers: ["ETag": "\"2\""])
        }
        #expect(await api.text() == "two")
        #expect(world.requests.count == 3)
    }

    @Test func a304WithAnEntityTagDoesNotConfirmAResponseWithoutOne() async {
        let api = world.api()
        world.says("one", "no-cache", ["Last-Modified": CacheRulesTests.yearBefore])
        #expect(await api.text() == "one")
        world.answers { request in
            guard request.headers.contains("If-Modified-Since") else { return .data(Data("two".utf8)) }
            return .status(304, headers: ["ETag": "\"2\""])
        }
        #expect(await api.text() == "two")
        #expect(world.requests.count == 3)
    }

    @Test func deliversA304ToACallerWithItsOwnCondition() async {
        let api = world.api()
        world.says("one", "max-age=60", ["ETag": "\"1\""])
        #expect(await api.text() == "one")
        world.says("", "max-age=60", status: 304)
        #expect(await api.text("/a", ["If-None-Match": "\"1\""]) == "unacceptableStatus 304")
        #expect(await api.text("/a", ["Range": "bytes=0-"]) == "unacceptableStatus 304")
        #expect(await api.text() == "one, fresh")
    }

    @Test func findsAResponseWhoseVaryChangedWithA304() async {
        let api = world.api()
        world.says("one", "no-cache", ["ETag": "\"1\"", "Vary": "A"])
        #expect(await api.text("/a", ["A": "1", "B": "1"]) == "one")
        world.says("", "no-cache", ["ETag": "\"1\"", "Vary": "B"], status: 304)
        for a in ["1", "2"] { #expect(await api.text("/a", ["A": a, "B": "1"]) == "one, validated") }
        #expect(await api.text("/a", ["A": "1", "B": "2"], use: .cached) == "notCached 0")
        world.says("", "no-cache", ["ETag": "\"1\"", "Vary": "*"], status: 304)
        #expect(await api.text("/a", ["B": "1"]) == "one, validated")
        #expect(await api.text("/a", ["B": "1"], use: .cached) == "notCached 0")
    }

    @Test func usesTheArrivalTimeOfA304WithoutADate() async {
        let api = world.api()
        world.says("one", "max-age=60", ["ETag": "\"1\"", "Date": CacheRulesTests.yearBefore])
        #expect(await api.text() == "one")
        world.says("", "max-age=60", ["ETag": "\"1\""], status: 304)
        #expect(await api.text() == "one, validated")
        world.clock.advance(by: .seconds(59))
        #expect(await api.text() == "one, fresh")
    }

    @Test func answersAHeadWithAStoredGetResponse() async throws {
        let api = world.api()
        world.says("one", "max-age=60", ["ETag": "\"1\""])
        #expect(await api.text() == "one")
        #expect(await api.text(method: .head) == ", fresh")
        world.clock.advance(by: .seconds(60))
        world.says("", "max-age=60", ["ETag": "\"1\""])
        #expect(await api.text(method: .head) == "")
        #expect(await api.text(use: .cached) == "one, stale")
        world.says("", "max-age=60", ["ETag": "\"2\""])
        #expect(await api.text(method: .head) == "")
        #expect(await api.text(use: .cached) == "notCached 0")
    }
}
