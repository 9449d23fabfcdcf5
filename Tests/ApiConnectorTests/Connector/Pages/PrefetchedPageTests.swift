// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// Pages whose server holds its responses, so that a test sees the concurrent requests.
struct PrefetchedPageTests {
    private typealias Route = Endpoint<ApiPath>

    /// Answers the first page, and holds the second until it is left, or sends it when a gate opens.
    private func server(_ gate: Gate? = nil) throws -> LoopbackServer {
        try LoopbackServer { connection in
            while let request = try connection.readRequest() {
                if request.target != "/1" {
                    guard let gate else { return try connection.waitUntilPeerCloses() }
                    try connection.wait(for: gate)
                }
                var response = LoopbackResponse.json("[\(request.target.dropFirst())]")
                if request.target == "/1" { response.headers.append((name: "Link", value: "</2>; rel=next")) }
                try connection.send(response.bytes(answering: request.method))
            }
        }
    }

    private func pages(_ server: LoopbackServer, over wire: Wire, prefetching: Bool) -> ResponseStream<[Int]> {
        NetworkConnector(
            environment: Place(host: LoopbackServer.host, port: server.port),
            provider: wire.transport,
            router: Route.self,
            configuration: ConnectionConfiguration(timeouts: .unlimited)
        )
        .pages(from: Route("/1"), prefetching: prefetching)
    }

    @Test(arguments: Wire.sockets)
    func isRequestedWhileTheLoopReadsThePreviousPage(_ wire: Wire) async throws {
        let gate = Gate("second page")
        let server = try server(gate)
        var pages = pages(server, over: wire, prefetching: true).makeAsyncIterator()
        #expect(try await pages.next() == [1])
        #expect(try await server.request(1).target == "/2")
        gate.open()
        #expect(try await pages.next() == [2])
        #expect(try await pages.next() == nil)
        #expect(server.requests.count == 2)
    }

    @Test(arguments: Wire.sockets)
    func isCanceledWhenTheLoopIsLeft(_ wire: Wire) async throws {
        let server = try server()
        for try await page in pages(server, over: wire, prefetching: true) {
            #expect(page == [1])
            _ = try await server.request(1)
            break
        }
        try await server.connectionEnded(0)
    }

    @Test(arguments: Wire.sockets, [false, true])
    func endsAtOnceWithTheTaskThatWaitsForIt(_ wire: Wire, _ prefetching: Bool) async throws {
        let server = try server()
        let loop = Task { () async throws(ApiConnectorError) -> [[Int]] in
            for try await _ in pages(server, over: wire, prefetching: prefetching) {}
            return []
        }
        _ = try await server.request(1)
        loop.cancel()
        let result = await loop.result
        let error = try #require(throws: ApiConnectorError.self) { try result.get() }
        #expect(error.kind == .cancelled)
        try await server.connectionEnded(0)
    }
}
