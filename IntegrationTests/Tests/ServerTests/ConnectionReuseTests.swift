// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import ApiConnector
import Foundation
import Servers
import Testing

/// Tests that connections over TLS 1.3 are reused, although unread session tickets may wait on them.
@Suite(.timeLimit(.minutes(10)))
struct ConnectionReuseTests {
    @Test(.enabled(if: Nginx.isInstalled, "nginx is missing: Scripts/setup nginx"), arguments: Wire.allCases)
    func oneConnectionToNginxServes50CallsInARow(_ wire: Wire) async throws {
        let nginx = try Nginx()
        let provider = wire.provider(trusting: nginx.authority)
        let isSecure = Wire.secure.contains(wire)
        let connections = try await connections(of: 50, over: provider, at: wire.url(of: nginx, "/small")) { headers in
            #expect(headers["X-Protocol"] == wire.protocolName)
            #expect(headers["X-TLS"] == (isSecure ? "TLSv1.3" : nil))
        }
        #expect(connections == 1)
    }

    @Test(
        .enabled(if: HAProxy.isInstalled, "haproxy is missing: Scripts/setup haproxy"),
        arguments: Wire.secure
    )
    func oneConnectionToHAProxyServes50CallsInARow(_ wire: Wire) async throws {
        let proxy = try HAProxy(.server(idleMilliseconds: 60_000))
        let provider = wire.provider(trusting: proxy.authority)
        let connections = try await connections(of: 50, over: provider, at: proxy.url("/")) { headers in
            #expect("HTTP/\(headers["X-Protocol"] ?? "")" == wire.protocolName)
            #expect(headers["X-TLS"] == "TLSv1.3")
        }
        #expect(connections == 1)
    }

    /// Each request is sent after the previous response.
    @Test(.enabled(if: Nginx.isInstalled, "nginx is missing: Scripts/setup nginx"))
    func sixteenConnectionsServe2000CallsOf16AtATime() async throws {
        let nginx = try Nginx()
        let provider = Wire.secureHTTP1.provider(trusting: nginx.authority)
        let result = try await Load(.get, 2_000, inFlight: 16).run(over: provider, at: nginx.secure("/small"))
        let problems = result.problems(processed: try nginx.processedCounts())
        #expect(problems == [])
        #expect(result.connections.count <= 16)
    }

    private func connections(
        of count: Int,
        over provider: CurlProvider,
        at url: URL,
        check: (HTTPHeaders) -> Void
    ) async throws -> Int {
        var connections: Set<String?> = []
        for _ in 0..<count {
            let response = try await provider.response(for: ApiRequest(url: url))
            #expect(try await response.body.collect(upTo: 100) == Data("hello".utf8))
            check(response.headers)
            connections.insert(response.headers["X-Connection"])
        }
        return connections.count
    }
}
#endif
