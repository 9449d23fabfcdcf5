// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTestServers
import ApiConnectorConformance
import ApiConnector
import ApiConnectorTesting
import Testing

/// HTTP/2 without TLS and without asking.
@Suite(.needsHTTP2) struct CurlPriorKnowledgeTests {
    private let provider: CurlProvider

    init() {
        var configuration = CurlConfiguration.patient
        configuration.httpVersion = .http2PriorKnowledge
        provider = CurlProvider(configuration: configuration)
    }

    private func server() throws -> LoopbackServer {
        try LoopbackServer { connection in
            try connection.serveHTTP2 { try connection.send(.ok($0)) }
        }
    }

    private func send(_ count: Int, to server: LoopbackServer) async throws {
        try await withThrowingTaskGroup(of: HTTPStatus.self) { group in
            for _ in 0..<count {
                group.addTask { try await provider.response(for: ApiRequest(url: server.url())).status }
            }
            for try await status in group { #expect(status == 200) }
        }
    }

    @Test func carriesSequentialRequests() async throws {
        let server = try server()
        var pace = Pace()
        for method in [.get, .post, .get, .put, .head] as [HTTPMethod] {
            let body: RequestBody = method == .post || method == .put ? .text("body") : .empty
            let request = ApiRequest(url: server.url(), method: method, body: body)
            #expect(try await provider.response(for: request).status == 200)
            pace.step()
        }
        let streamed = ApiRequest(url: server.url(), delivery: .streamed)
        #expect(try await provider.response(for: streamed).body.collect(upTo: 10).isEmpty)
        #expect(server.connectionCount == 1 || !pace.keepsConnections)
    }

    @Test func carriesConcurrentRequests() async throws {
        let server = try server()
        try await send(20, to: server)
        try await send(50, to: server)
        #expect(server.connectionCount == 1)
    }
}
#endif
