// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Foundation
import Synchronization
import Testing

/// A wrapper that knows nothing of origins shows another origin nothing, over each test double.
@Suite(.timeLimit(.minutes(10))) struct NaiveWrapperTests {
    private struct Naive<Wrapped: DataRequestType>: DataRequestType {
        let wrapped: Wrapped

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            var request = request
            request.headers[.authorization] = "Bearer hush"
            request.headers[.cookie] = "session=hush"
            return try await wrapped.response(for: request)
        }
    }

    /// Redirects to another host, and records what comes.
    private final class Server: ResponseSource {
        private let lines = Mutex<[String]>([])

        var seen: [String] { lines.withLock { $0 } }

        func response(for request: ApiRequest) async throws -> TestConnectorResponse {
            let secrets = [request.headers[.authorization], request.headers[.cookie]].map { $0 ?? "-" }
            let line = "\(request.url.host() ?? "") \(secrets.joined(separator: " "))"
            lines.withLock { $0.append(line) }
            return request.url.host() == "evil.example.org"
                ? .json("theirs") : .status(307, headers: ["Location": "http://evil.example.org/x"])
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

    @Test(arguments: Double.all) func sendsNoSecretToAnotherOrigin(_ double: Double) async throws {
        let server = Server()
        let (provider, holder) = try provider(double, over: server)
        let api = Naive(wrapped: provider).connected()
        #expect(try await api.value(String.self, at: Route("/a")) == "theirs")
        withExtendedLifetime(holder) {}
        #expect(server.seen == ["api.example.com Bearer hush session=hush", "evil.example.org - -"])
    }
}
