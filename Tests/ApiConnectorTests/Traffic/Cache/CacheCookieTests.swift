// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import ApiConnectorTraffic
import Testing

/// A response to a request with a transport's own cookies is for one user, and a cache cannot tell for which user.
struct CacheCookieTests {
    private static func request(_ url: URL, _ method: HTTPMethod = .get) -> ApiRequest {
        ApiRequest(url: url, method: method)
    }

    private static func text(_ provider: some DataRequestType, _ url: URL) async throws -> String {
        let response = try await provider.response(for: request(url))
        return String(decoding: try await response.body.collect(upTo: 1000), as: UTF8.self)
    }

    /// A server that has a session for each user, and lets anyone store its responses for an hour.
    private static func server() throws -> LoopbackServer {
        try LoopbackServer.responding { request in
            if request.target.hasPrefix("/login/") {
                return LoopbackResponse(headers: [("Set-Cookie", "user=\(request.target.dropFirst(7)); Path=/")])
            }
            let user = request.header("Cookie") ?? "nobody"
            return LoopbackResponse(headers: [("Cache-Control", "max-age=3600")], body: Data(user.utf8))
        }
    }

    private func expectOwnResponses(_ transport: some DataRequestType) async throws {
        let server = try Self.server()
        defer { server.stop() }
        let provider = transport.deduplicating().caching(in: MemoryCacheStorage())
        var answers: [String] = []
        for user in ["ada", "bob"] {
            _ = try await provider.response(for: Self.request(server.url("/login/\(user)"), .post))
            answers.append(try await Self.text(provider, server.url("/me")))
        }
        #expect(answers == ["user=ada", "user=bob"])
    }

    #if Curl && os(Linux)
    @Test func noUserGetsTheResponseOfAnotherOverCurl() async throws {
        var configuration = CurlConfiguration.patient
        configuration.cookies = .inMemory
        try await expectOwnResponses(CurlProvider(configuration: configuration))
    }
    #endif

    @Test func noUserGetsTheResponseOfAnotherOverURLSession() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpShouldSetCookies = true
        try #require(configuration.httpCookieStorage != nil)
        try await expectOwnResponses(URLSessionProvider(configuration: configuration))
    }

    @Test func responsesOfATransportWithoutCookiesAreCached() async throws {
        let server = try Self.server()
        defer { server.stop() }
        let provider = SystemProvider().caching(in: MemoryCacheStorage())
        for _ in 0..<3 { #expect(try await Self.text(provider, server.url("/me")) == "nobody") }
        #expect(server.requests.count == 1)
    }

    @Test func responsesOfASessionWithoutCookiesForTheURLAreCached() async throws {
        let server = try Self.server()
        defer { server.stop() }
        let provider = URLSessionProvider(configuration: .ephemeral).caching(in: MemoryCacheStorage())
        for _ in 0..<3 { #expect(try await Self.text(provider, server.url("/me")) == "nobody") }
        #expect(server.requests.count == 1)
    }

    /// A user's transport whose public property says, from the second call on, that it has cookies.
    private final class CookieTransport: DataRequestType {
        private let calls = Locked<Int>(0)

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            let call = calls.withLock { calls in
                calls += 1
                return calls
            }
            let isConfirmed = request.headers.contains("If-None-Match")
            var response = ApiResponse(
                to: request,
                status: isConfirmed ? 304 : 200,
                headers: ["Cache-Control": "max-age=0, must-revalidate", "ETag": "\"e\""],
                body: ResponseBody(Data((isConfirmed ? "" : "answer \(call)").utf8))
            )
            response.mayDependOnStoredCookies = call > 1
            return response
        }
    }

    @Test func aStoredResponseConfirmedForStoredCookiesIsRemoved() async throws {
        let transport = CookieTransport()
        let provider = transport.caching(in: MemoryCacheStorage())
        let url = try #require(URL(string: "http://h/me"))
        // Stored, confirmed and forgotten, asked for without a condition twice.
        var answers: [String] = []
        for _ in 1...4 { answers.append(try await Self.text(provider, url)) }
        #expect(answers == ["answer 1", "answer 1", "answer 3", "answer 4"])
    }
}
