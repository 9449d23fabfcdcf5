// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import ApiConnector
import Foundation
import Servers
import Testing

/// Calls to an nginx through a tinyproxy that requires a password.
@Suite(
    .timeLimit(.minutes(10)),
    .enabled(
        if: Tinyproxy.isInstalled && Nginx.isInstalled,
        "tinyproxy or nginx is missing: Scripts/setup tinyproxy nginx"
    )
)
struct ProxyTests {
    private static let wrongPassword = "wrong-8Hx3Lq0Z"

    private static let policy = RetryPolicy(maximumAttemptCount: 3, initialDelay: .milliseconds(1))

    private let nginx: Nginx
    private let proxy: Tinyproxy

    init() throws {
        nginx = try Nginx()
        proxy = try Tinyproxy(connectingTo: nginx.securePort)
    }

    private func provider(user: String?, password: String?) throws -> CurlProvider {
        let url = try proxy.url(user: user, password: password)
        return .trusting(nginx.authority) { $0.proxy = .url(url) }
    }

    @Test func forwardsWithTheRightPassword() async throws {
        let provider = try provider(user: "ada", password: Tinyproxy.password)
        let response = try await provider.response(for: ApiRequest(url: nginx.plain("/small")))
        #expect(response.status == 200)
        #expect(try await response.body.collect(upTo: 100) == Data("hello".utf8))
        #expect(try proxy.requestCount("GET") == 1)
    }

    /// The call uses TLS and HTTP/2 inside the tunnel.
    @Test func tunnelsWithTheRightPassword() async throws {
        let provider = try provider(user: "ada", password: Tinyproxy.password)
        for _ in 0..<10 {
            let response = try await provider.response(for: ApiRequest(url: nginx.secure("/small")))
            #expect(response.headers["X-Protocol"] == "HTTP/2.0")
            #expect(try await response.body.collect(upTo: 100) == Data("hello".utf8))
        }
        #expect(try proxy.requestCount("CONNECT") == 1)
    }

    /// The proxy's own response is delivered, because it cannot be distinguished from a server's response.
    @Test func deliversTheProxysRefusalOverPlainHTTP() async throws {
        let provider = try provider(user: "ada", password: Self.wrongPassword)
        let response = try await provider.response(for: ApiRequest(url: nginx.plain("/small")))
        #expect([401, 407].contains(response.status.rawValue))
    }

    @Test(arguments: [(user: "ada", password: wrongPassword), (nil, nil)])
    func aRefusedTunnelNamesTheProxyAndIsNotRetried(_ user: String?, _ password: String?) async throws {
        let provider = try provider(user: user, password: password).retrying(Self.policy)
        let error = await #expect(throws: ApiConnectorError.self) {
            try await provider.response(for: ApiRequest(url: nginx.secure("/small")))
        }
        #expect(error?.kind == .cannotConnect)
        try expectNamesProxy(error)
        #expect(try proxy.requestCount("CONNECT") == 1)
    }

    @Test func aTunnelToAPortThatTheProxyDoesNotAllowIsRefused() async throws {
        let other = try Nginx()
        let provider = try provider(user: "ada", password: Tinyproxy.password).retrying(Self.policy)
        let error = await #expect(throws: ApiConnectorError.self) {
            try await provider.response(for: ApiRequest(url: other.secure("/small")))
        }
        #expect(error?.kind == .cannotConnect)
        try expectNamesProxy(error)
        #expect(try proxy.requestCount("CONNECT") == 1)
    }

    /// Checks that all texts of the error contain the proxy's address, but no password.
    private func expectNamesProxy(_ error: ApiConnectorError?) throws {
        let error = try #require(error)
        var dumped = ""
        dump(error, to: &dumped)
        #expect(error.description.contains("127.0.0.1:\(proxy.port)"))
        for text in [error.description, error.localizedDescription, String(reflecting: error), dumped] {
            #expect(!text.contains(Self.wrongPassword))
            #expect(!text.contains(Tinyproxy.password))
        }
    }
}
#endif
