// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// `cached` as a connection sees it: what is served, what is sent, and what is told of it.
@Suite(.timeLimit(.minutes(1))) struct CachedTests {
    private let world = CacheWorld()

    @Test func servesWhatIsFresh() async throws {
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

    @Test func tellsTheHeadOfAValueWhereItCameFrom() async throws {
        let api = world.api()
        world.answers { _ in .json(7, headers: ["Cache-Control": "max-age=60"]) }
        for hit in [nil, CacheHit.fresh] {
            let response = try await api.response(of: Int.self, at: Endpoint(path: "/a"))
            #expect(response.value == 7)
            #expect(response.cacheHit == hit)
        }
    }

    @Test func servesAStreamFromWhatIsStored() async throws {
        let api = world.api()
        world.says("1\n2\n", "max-age=60", ["Content-Type": "application/jsonl"])
        #expect(await api.text() == "1\n2\n")
        var values: [Int] = []
        for try await value in api.stream(of: Int.self, at: Endpoint(path: "/a")) { values.append(value) }
        #expect(values == [1, 2])
        #expect(world.requests.count == 1)
    }

    @Test func letsAStreamedBodyPass() async throws {
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

    @Test func asksWhetherWhatIsStoredIsStillGood() async throws {
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

    @Test func replacesWhatTheServerHasReplaced() async {
        let api = world.api()
        world.says("one", "no-cache", ["ETag": "\"1\""])
        #expect(await api.text() == "one")
        world.says("two", "no-cache", ["ETag": "\"2\""])
        #expect(await api.text() == "two")
        world.says("", "no-cache", ["ETag": "\"2\""], status: 304)
        #expect(await api.text() == "two, validated")
        #expect(world.requests.map { $0.headers[.ifNoneMatch] } == [nil, "\"1\"", "\"2\""])
    }

    @Test func asksOnceMoreWhereA304IsAboutSomethingElse() async {
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

    @Test func deliversA304ToWhoeverAskedOnConditions() async {
        let api = world.api()
        world.says("one", "max-age=60", ["ETag": "\"1\""])
        #expect(await api.text() == "one")
        world.says("", "max-age=60", status: 304)
        #expect(await api.text("/a", ["If-None-Match": "\"1\""]) == "unacceptableStatus 304")
        #expect(await api.text("/a", ["Range": "bytes=0-"]) == "unacceptableStatus 304")
        #expect(await api.text() == "one, fresh")
    }

    @Test func keepsTheAnswersToDifferentSelectionsApart() async {
        let api = world.api()
        for language in ["de", "en"] {
            world.says(language, "max-age=60", ["Vary": "accept-language, X-A"])
            #expect(await api.text("/a", ["Accept-Language": language]) == language)
        }
        world.says("new", "max-age=60", ["Vary": "accept-language, X-A"])
        #expect(await api.text("/a", ["Accept-Language": "de"]) == "de, fresh")
        #expect(await api.text("/a", ["ACCEPT-LANGUAGE": "en", "X-B": "1"]) == "en, fresh")
        #expect(await api.text("/a", ["Accept-Language": "de", "X-A": ""]) == "new")
        #expect(await api.text("/a") == "new")
    }

    @Test func servesNobodyAnothersAnswer() async {
        let api = world.api()
        let users: [HTTPHeaders] = [
            HTTPHeaders(), ["Authorization": "Bearer 1"], ["Authorization": "Bearer 2"], ["Cookie": "id=1"],
            ["X-Api-Key": "1"], ["Authorization": "Bearer 1", "Cookie": "id=1"],
        ]
        for (number, user) in users.enumerated() {
            world.says("\(number)", "private, max-age=60")
            #expect(await api.text("/a", user) == "\(number)")
        }
        for (number, user) in users.enumerated() { #expect(await api.text("/a", user) == "\(number), fresh") }
    }

    @Test func storesNoAnswerToACredentialUnlessItMay() async throws {
        let api = world.api()
        world.says("one", "max-age=60")
        for _ in 0..<2 { #expect(await api.text("/a", ["Authorization": "Bearer 1"]) == "one") }
        let query = [URLQueryItem(name: "access_token", value: "1")]
        for _ in 0..<2 { #expect(try await api.response(at: Endpoint(path: "/a", queryItems: query)).cacheHit == nil) }
        #expect(world.requests.count == 4)
    }

    @Test func storesNoAnswerToACredentialThatWasAddedFurtherIn() async {
        for credential in [ApiCredential.bearer("1"), .apiKey("1", inQuery: "k"), .apiKey("1", inHeader: "Shop")] {
            let inside = world.api(
                over: world.server.authenticated(by: .fixed(credential)).cached(in: MemoryCacheStorage())
            )
            world.says("one", "private, max-age=60")
            #expect(await inside.text() == "one")
            #expect(await inside.text() == "one")
            let outside = world.api(
                over: world.server.cached(in: MemoryCacheStorage()).authenticated(by: .fixed(credential))
            )
            #expect(await outside.text() == "one")
            #expect(await outside.text() == "one, fresh")
        }
    }

    @Test func storesNothingThatVariesByWhatWasAddedFurtherIn() async {
        let api = world.api(over: world.server.headers(["X-Tenant": "1"]).cached(in: MemoryCacheStorage()))
        world.says("one", "max-age=60", ["Vary": "X-Tenant"])
        for _ in 0..<2 { #expect(await api.text() == "one") }
        world.says("one", "max-age=60")
        #expect(await api.text() == "one")
        #expect(await api.text() == "one, fresh")
    }

    @Test(arguments: [HTTPMethod.post, .put, .patch, .delete, "PURGE"])
    func forgetsWhatAnUnsafeMethodMayHaveChanged(_ method: HTTPMethod) async {
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

    @Test func forgetsNothingOfAnotherOriginOrAfterARefusal() async {
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
        // Nobody knows what a request has changed whose answer was lost.
        world.answers { _ in throw URLError(.networkConnectionLost) }
        #expect(await api.text("/a", method: .post) == "connectionLost 0")
        world.says("two", "max-age=60")
        #expect(await api.text() == "two")
    }

    @Test(arguments: [("a", 1, false), ("x", 1, true), ("x", ResponseCache.maximumInvalidationCount + 1, false)])
    func storesNoAnswerThatWasUnderWayWhenItWasInvalidated(name: String, count: Int, isStored: Bool) async throws {
        let server = SubjectServer()
        let api = world.api(over: server.cached(in: MemoryCacheStorage()))
        let get = Task { await api.text() }
        try await server.arrived(1)
        for number in 1...count {
            let post = Task { await api.text("/\(number > 1 ? "\(name)\(number)" : name)", method: .post) }
            try await server.arrived(number + 1)
            server.answer(number)
            _ = await post.value
        }
        server.answer(0, headers: ["Cache-Control": "max-age=60"])
        _ = await get.value
        #expect(await api.text(use: .cached) == (isStored ? "/a as nobody, fresh" : "notCached 0"))
        let next = Task { await api.text(use: .fresh) }
        try await server.arrived(count + 2)
        server.answer(count + 1, headers: ["Cache-Control": "max-age=60"])
        #expect(await next.value == "/a as nobody")
        #expect(await api.text(use: .cached) == "/a as nobody, fresh")
    }

    @Test func asksForSoManyAnewAtATime() async throws {
        let server = SubjectServer()
        let api = world.api(over: server.cached(in: MemoryCacheStorage()))
        let count = ResponseCache.maximumRenewalCount
        for number in 0...count {
            let first = Task { await api.text("/\(number)") }
            try await server.arrived(number + 1)
            server.answer(number, headers: ["Cache-Control": "max-age=60, stale-while-revalidate=30"])
            _ = await first.value
        }
        world.clock.advance(by: .seconds(60))
        for number in 0...count { #expect(await api.text("/\(number)") == "/\(number) as nobody, stale") }
        try await server.arrived(2 * count + 1)
        for _ in 0..<1000 { await Task.yield() }
        #expect(server.requests.count == 2 * count + 1)
        server.calmDown()
    }

    @Test func findsWhatVariesByOtherFieldsSinceA304() async {
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

    @Test func takesA304WithoutADateForOneOfItsArrival() async {
        let api = world.api()
        world.says("one", "max-age=60", ["ETag": "\"1\"", "Date": CacheRulesTests.yearBefore])
        #expect(await api.text() == "one")
        world.says("", "max-age=60", ["ETag": "\"1\""], status: 304)
        #expect(await api.text() == "one, validated")
        world.clock.advance(by: .seconds(59))
        #expect(await api.text() == "one, fresh")
    }

    @Test func answersAHeadByWhatWasStoredForAGet() async throws {
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

    @Test func servesStaleWhereTheServerFails() async {
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

    @Test func asksAnewBehindAStaleAnswer() async throws {
        let server = SubjectServer()
        let provider = server.cached(in: MemoryCacheStorage())
        let api = world.api(over: provider)
        let first = Task { await api.text() }
        try await server.arrived(1)
        server.answer(0, headers: ["Cache-Control": "max-age=60, stale-while-revalidate=30"])
        #expect(await first.value == "/a as nobody")
        world.clock.advance(by: .seconds(60))
        // One renewal at a time, which no call waits for.
        for _ in 0..<3 { #expect(await api.text() == "/a as nobody, stale") }
        try await server.arrived(2)
        #expect(server.requests.count == 2)
        server.answer(1, status: 500)
        try await world.until { await api.text() == "/a as nobody, stale" && server.requests.count == 3 }
        server.answer(2, headers: ["Cache-Control": "max-age=60"])
        try await world.until { await api.text() == "/a as nobody, fresh" }
        #expect(server.requests.count == 3)
    }

    @Test func asksTheServerWhereTheCallWantsThat() async {
        let api = world.api()
        world.says("one", "max-age=60", ["ETag": "\"1\""])
        #expect(await api.text(use: .fresh) == "one")
        #expect(world.requests[0].headers[.cacheControl] == "no-cache")
        world.says("", "max-age=60", ["ETag": "\"1\""], status: 304)
        #expect(await api.text(use: .fresh) == "one, validated")
        world.says("two", "max-age=60")
        #expect(await api.text(use: .fresh) == "two")
        #expect(await api.text() == "two, fresh")
        #expect(await api.text("/a", ["Cache-Control": "max-age=5"], use: .fresh) == "two")
        #expect(world.requests[3].headers[.cacheControl] == "max-age=5")
    }

    @Test func sendsNothingWhereTheCallWantsWhatIsStored() async throws {
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
                    == "GET http://api.example.com:80/b failed (notCached): the call asked for what the cache has, and the cache has "
                    + "nothing that may be used. Ask without a cacheUse of .cached, so that the server is asked."
            )
        }
    }

    @Test func givesWhatIsStoredAndThenWhatTheServerSays() async throws {
        let api = world.api()
        func values() async throws -> [String] {
            var values: [String] = []
            for try await news in api.cachedThenFresh(Int.self, at: Endpoint(path: "/a")) {
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
        // What does not decode any more is left out.
        world.answers { _ in .json("three", headers: ["Cache-Control": "max-age=60"]) }
        #expect(await api.text(use: .fresh) == "\"three\"")
        world.answers { _ in .json(4) }
        #expect(try await values() == ["4 server"])
    }

    @Test func givesTheServersAnswerOnceWhereThereIsNoCache() async throws {
        let api = world.api(over: world.server)
        world.answers { _ in .json(1) }
        var values: [Int] = []
        for try await news in api.cachedThenFresh(Int.self, at: Endpoint(path: "/a")) { values.append(news.value) }
        for try await news in api.cachedThenFresh(Int.self, at: Endpoint(path: "/a", method: .post)) {
            values.append(news.value)
        }
        #expect(values == [1, 1])
        #expect(world.requests.count == 2)
    }

    @Test func sendsWhatARefreshAsksByItself() async throws {
        let provider = world.server.cached(in: MemoryCacheStorage())
        world.says("one", "max-age=60")
        let request = ApiRequest(url: try #require(URL(string: "http://h/a")))
        for _ in 0..<2 {
            let status = await CredentialRefresh(of: world).during { try? await provider.response(for: request).status }
            #expect(status == 200)
        }
        #expect(world.requests.count == 2)
    }

    @Test func storesNoBodyBeyondItsLimitAndServesNoneBeyondTheCalls() async throws {
        let api = world.api(over: world.server.cached(in: MemoryCacheStorage(), maximumBodyByteCount: 3))
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

    @Test func storesARedirectThatMayBeStored() async {
        let api = world.api()
        world.answers { request in
            guard request.url.path() == "/a" else { return .data(Data("there".utf8)) }
            return .status(301, headers: ["Location": "/b", "Cache-Control": "max-age=60"])
        }
        for _ in 0..<2 { #expect(await api.text() == "there") }
        #expect(world.requests.map { $0.url.path() } == ["/a", "/b", "/b"])
    }

    @Test(arguments: [false, true]) func endsTheWaitForAStorageThatHangs(isCancelled: Bool) async throws {
        let storage = HangingStorage()
        let limits = isCancelled ? Timeouts.unlimited : Timeouts(stall: nil, overall: .seconds(5))
        let api = world.api(over: world.server.cached(in: storage), timeouts: limits)
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

extension CacheWorld {
    /// Asks until something is so that comes behind an answer.
    func until(_ isSo: () async -> Bool) async throws {
        for _ in 0..<1_000_000 {
            if await isSo() { return }
            await Task.yield()
        }
        Issue.record("it has not come about")
    }
}
