// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Foundation
import Synchronization
import Testing

/// A wrapper that knows nothing of origins shows another origin nothing, over each test double.
@Suite(.timeLimit(.minutes(10))) struct NaiveWrapperTests {}

extension NaiveWrapperTests {
    /// Where a wrapper puts a secret.
    enum Place: CaseIterable, Sendable {
        case authorization, cookie, proxyAuthorization, apiKey, queryItem

        func put(_ secret: String, into request: inout ApiRequest) {
            switch self {
            case .authorization: request.headers[.authorization] = "Bearer \(secret)"
            case .cookie: request.headers[.cookie] = "session=\(secret)"
            case .proxyAuthorization: request.headers["Proxy-Authorization"] = "Basic \(secret)"
            case .apiKey: request.headers["X-Api-Key"] = secret
            case .queryItem: request.url.append(queryItems: [URLQueryItem(name: "api_key", value: secret)])
            }
        }
    }

    /// Puts a secret into every request.
    private struct Naive<Wrapped: DataRequestType>: DataRequestType {
        let wrapped: Wrapped
        let place: Place

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            var request = request
            place.put("hush", into: &request)
            return try await wrapped.response(for: request)
        }
    }

    /// Redirects each request for `/a`, and records the requests.
    private final class Server: ResponseSource {
        private let target: String
        private let lines = Mutex<[String]>([])

        init(redirectingTo target: String) {
            self.target = target
        }

        /// Scheme and host of each request, and whether it had the secret.
        var seen: [String] { lines.withLock { $0 } }

        func response(for request: ApiRequest) async throws -> TestConnectorResponse {
            let texts = [request.url.absoluteString] + request.headers.map(\.value)
            let hasSecret = texts.contains { $0.contains("hush") }
            let origin = "\(request.url.scheme ?? "")://\(request.url.host() ?? "")"
            lines.withLock { $0.append(hasSecret ? "\(origin) with the secret" : origin) }
            return request.url.path() == "/a" ? .status(307, headers: ["Location": target]) : .json("theirs")
        }
    }

    enum Double: CaseIterable, Sendable {
        case connector, bridge, server

        static let all: [Double] = {
            #if os(Linux) && !Curl
            // It needs a transport with a proxy.
            allCases.filter { $0 != .server }
            #else
            allCases
            #endif
        }()
    }

    /// A provider over a test double, and what has to be held meanwhile.
    private func provider(_ double: Double, over server: Server) throws -> (AnyProvider, (any Sendable)?) {
        switch double {
        case .connector: return (AnyProvider(TestConnector(server)), nil)
        case .bridge:
            let bridge = try SessionBridge(server, delivery: .inChunks)
            return (AnyProvider(URLSessionProvider(configuration: bridge.configuration)), bridge)
        case .server:
            let proxy = try ScriptServer(server)
            #if Curl && os(Linux)
            var configuration = CurlConfiguration()
            configuration.proxy = .url(try #require(URL(string: "http://127.0.0.1:\(proxy.port)")))
            return (AnyProvider(CurlProvider(configuration: configuration)), proxy)
            #else
            let configuration = URLSessionConfiguration.ephemeral
            configuration.connectionProxyDictionary = [
                "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": proxy.port,
            ]
            return (AnyProvider(URLSessionProvider(configuration: configuration)), proxy)
            #endif
        }
    }

    /// The requests that the servers get when the connection's own server redirects a call.
    private func seen(
        over double: Double,
        with place: Place,
        from scheme: HTTPScheme = .http,
        to target: String
    ) async throws -> [String] {
        let server = Server(redirectingTo: target)
        let (provider, holder) = try provider(double, over: server)
        let api = NetworkConnector<_, Route>(
            environment: Backend(scheme: scheme),
            provider: Naive(wrapped: provider, place: place),
            configuration: ConnectionConfiguration(timeouts: .unlimited, redirects: .follow(allowsInsecure: true))
        )
        #expect(try await api.value(String.self, at: Route("/a")) == "theirs")
        withExtendedLifetime(holder) {}
        return server.seen
    }

    @Test(arguments: Double.all, Place.allCases)
    func sendsNoSecretToAnotherOrigin(_ double: Double, _ place: Place) async throws {
        let seen = try await seen(over: double, with: place, to: "http://evil.example.org/x")
        #expect(seen == ["http://api.example.com with the secret", "http://evil.example.org"])
    }

    /// A script's server has no certificate.
    @Test(arguments: [Double.connector, .bridge], Place.allCases)
    func sendsNoSecretWithoutEncryptionAfterARedirect(_ double: Double, _ place: Place) async throws {
        let seen = try await seen(over: double, with: place, from: .https, to: "http://api.example.com/x")
        #expect(seen == ["https://api.example.com with the secret", "http://api.example.com"])
    }

    @Test(arguments: Double.all, Place.allCases)
    func sendsTheSecretAgainToItsOwnOrigin(_ double: Double, _ place: Place) async throws {
        let seen = try await seen(over: double, with: place, to: "http://api.example.com:80/x")
        #expect(seen == Array(repeating: "http://api.example.com with the secret", count: 2))
    }
}
