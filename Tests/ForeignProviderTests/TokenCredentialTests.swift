// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Foundation
import Synchronization
import Testing

/// A user's credential wrapper, which must pass the tests of the built-in wrapper.
@Suite(.timeLimit(.minutes(10))) struct TokenCredentialTests {
    private let clock = ManualClock()
    private let refreshes = Arrivals()

    /// The host, path and credential of each request that the server got.
    private let seen = Seen()
}

extension TokenCredentialTests {
    private final class Seen: Sendable {
        private let lines = Mutex<[String]>([])

        var all: [String] { lines.withLock { $0 } }

        func note(_ request: ApiRequest) {
            let line =
                "\(request.url.host() ?? "")\(request.url.path()) \(request.headers[.authorization] ?? "-")"
            lines.withLock { $0.append(line) }
        }
    }

    private func api(
        _ timeouts: Timeouts = .unlimited,
        fetch: @escaping @Sendable () async throws -> String,
        answer: @escaping @Sendable (ApiRequest) -> TestConnectorResponse = Self.answer
    ) -> Connection {
        let server = TestConnector { [seen] request in
            seen.note(request)
            return answer(request)
        }
        let tokens = TokenStore("t1") { [refreshes] in
            refreshes.note()
            return try await fetch()
        }
        return TokenCredential(wrapped: server, tokens: tokens).connected(on: clock, timeouts)
    }

    @Sendable private static func answer(_ request: ApiRequest) -> TestConnectorResponse {
        request.headers[.authorization] == "Bearer t2" ? .json("done") : .status(401)
    }

    @Test func refusedCallsShareARefresh() async throws {
        let (arrived, released) = (Arrivals(), Arrivals())
        let api = api {
            await released.next()
            return "t2"
        } answer: {
            arrived.note()
            return Self.answer($0)
        }
        async let first = api.value(String.self, at: Route("/a"))
        async let second = api.value(String.self, at: Route("/b"))
        for _ in 1...2 { await arrived.next() }
        released.note()
        #expect(try await first == "done")
        #expect(try await second == "done")
        #expect(refreshes.total == 1)
        #expect(try await api.value(String.self, at: Route("/c")) == "done")
        #expect(seen.all.count == 5)
    }

    @Test func theDeadlineEndsAWaitForARefreshAndNotTheRefresh() async throws {
        let released = Arrivals()
        let api = api(Timeouts(attempt: nil, stall: Timeouts.noLimit, overall: .seconds(5))) {
            await released.next()
            return "t2"
        }
        async let late = outcome { try await api.data(at: Route("/a")) }
        await refreshes.next()
        try await clock.pass(.seconds(5))
        #expect(await late?.kind == .deadlineExceeded)
        async let next = api.value(
            String.self,
            at: Route("/b"),
            options: CallOptions(timeouts: .unlimited)
        )
        released.note()
        #expect(try await next == "done")
        #expect(refreshes.total == 1)
    }

    @Test func aCanceledCallLeavesTheRefreshBehind() async throws {
        let released = Arrivals()
        let api = api {
            await released.next()
            return "t2"
        }
        let call = Task { await outcome { try await api.data(at: Route("/a")) } }
        await refreshes.next()
        call.cancel()
        #expect(await call.value?.kind == .cancelled)
        async let next = api.value(String.self, at: Route("/b"))
        released.note()
        #expect(try await next == "done")
        #expect(refreshes.total == 1)
    }

    @Test func theAttemptTimeoutDoesNotEndAWaitForARefresh() async throws {
        let released = Arrivals()
        let api = api(Timeouts(attempt: .seconds(5), stall: Timeouts.noLimit)) {
            await released.next()
            return "t2"
        }
        async let call = api.value(String.self, at: Route("/a"))
        await refreshes.next()
        // No limit runs during the wait, whenever it begins.
        for _ in 1...100 {
            clock.advance(by: .seconds(10))
            await Task.yield()
        }
        released.note()
        #expect(try await call == "done")
    }

    private final class Later: Sendable {
        private let connection = Mutex<Connection?>(nil)

        var value: Connection? {
            get { connection.withLock { $0 } }
            set { connection.withLock { $0 = newValue } }
        }
    }

    /// The call that waits for the refresh holds the only slot.
    @Test func aRefreshOverTheSameConnectionPassesItsLimit() async throws {
        let later = Later()
        let server = TestConnector { [seen] request in
            seen.note(request)
            return request.url.path() == "/token" ? .json("t2") : Self.answer(request)
        }
        let tokens = TokenStore("t1") {
            let options = CallOptions(isCredentialRefresh: true)
            let api = try #require(later.value)
            return try await api.value(String.self, at: Route("/token", .post), options: options)
        }
        let api = ConcurrencyLimit(1, TokenCredential(wrapped: server, tokens: tokens)).connected(on: clock)
        later.value = api
        #expect(try await api.value(String.self, at: Route("/a")) == "done")
        #expect(
            seen.all == [
                "api.example.com/a Bearer t1", "api.example.com/token -", "api.example.com/a Bearer t2",
            ]
        )
    }

    /// The code that fetches the token marks nothing itself.
    @Test func eachRequestOfARefreshIsMarked() async throws {
        let later = Later()
        let server = TestConnector { [seen] request in
            seen.note(request)
            return request.url.path() == "/token" ? .json("t2") : Self.answer(request)
        }
        let tokens = TokenStore("t1") {
            try await #require(later.value).value(String.self, at: Route("/token", .post))
        }
        let api = ConcurrencyLimit(1, TokenCredential(wrapped: server, tokens: tokens)).connected(on: clock)
        later.value = api
        #expect(try await api.value(String.self, at: Route("/a")) == "done")
        #expect(seen.all.count == 3)
        later.value = nil
    }

    @Test func aValueThatIsSetReplacesTheMarkOfARefresh() async throws {
        let tokens = TokenStore("t1") { "t2" }
        let url = try #require(URL(string: "http://api.example.com/a"))
        await ApiRequest.markingCredentialRefresh(of: tokens) {
            var request = ApiRequest(url: url)
            #expect(request.isCredentialRefresh)
            request.isCredentialRefresh = false
            #expect(!request.isCredentialRefresh)
            #expect(request.isCredentialRefresh(of: tokens))
            #expect(!request.isCredentialRefresh(of: self.refreshes))
        }
    }

    @Test func aRequestCreatedBeforeARefreshIsMarkedDuringTheRefreshOnly() async throws {
        let tokens = TokenStore("t1") { "t2" }
        let url = try #require(URL(string: "http://api.example.com/a"))
        let request = ApiRequest(url: url)
        #expect(!request.isCredentialRefresh)
        await ApiRequest.markingCredentialRefresh(of: tokens) {
            #expect(request.isCredentialRefresh)
            // So that the source does not wait for its own refresh.
            #expect(request.isCredentialRefresh(of: tokens))
        }
        #expect(!request.isCredentialRefresh)
        #expect(!request.isCredentialRefresh(of: tokens))
    }

    @Test func aFailedRefreshFailsTheCall() async throws {
        let api = api { throw ApiConnectorError(.credentialsUnavailable, "no user is signed in") }
        let error = await outcome { try await api.data(at: Route("/a")) }
        #expect(error?.kind == .credentialsUnavailable)
    }

    @Test func aRedirectToAnotherOriginSendsNoSecret() async throws {
        let api = api {
            "t2"
        } answer: { request in
            request.url.host() == "evil.example.org"
                ? .json("theirs") : .status(307, headers: ["Location": "http://evil.example.org/x"])
        }
        #expect(try await api.value(String.self, at: Route("/a")) == "theirs")
        #expect(seen.all == ["api.example.com/a Bearer t1", "evil.example.org/x -"])
    }

    /// A key in a field that no redactor knows by its name.
    private struct ShopKey<Wrapped: DataRequestType>: DataRequestType {
        let wrapped: Wrapped

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            var request = request
            request.addSecretNames(headerNames: ["X-Shop"])
            request.headers["X-Shop"] = "wise-secret-9"
            return try await wrapped.response(for: request)
        }
    }

    @Test func aSecretInACustomFieldIsInNoTextAndStaysAtItsOrigin() async throws {
        let shown = Arrivals()
        let server = TestConnector { request in
            if request.headers["X-Shop"] != nil { shown.note() }
            if request.url.host() == "evil.example.org" { return .status(404) }
            let body = Data("no wise-secret-9 is known".utf8)
            return request.url.path() == "/a"
                ? .status(307, headers: ["Location": "http://evil.example.org/x"]) : .data(body, status: 403)
        }
        let api = ShopKey(wrapped: server).connected(on: clock)
        let elsewhere = await outcome { try await api.data(at: Route("/a")) }
        #expect(elsewhere?.response?.status == 404)
        #expect(shown.total == 1)
        let error = try #require(await outcome { try await api.data(at: Route("/b")) })
        #expect(error.description.contains("is known"))
        #expect(!error.description.contains("wise-secret-9"))
    }
}
