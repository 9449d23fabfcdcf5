// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import ApiConnector
import Foundation
import Servers
import Testing

/// HTTP/1.1 and HTTP/2 over TLS, to a HAProxy.
@Suite(.timeLimit(.minutes(10)), .enabled(if: HAProxy.isInstalled, "haproxy is missing: Scripts/setup haproxy"))
struct HAProxyTests {
    @Test func negotiatesHTTP2() async throws {
        let proxy = try HAProxy(.server(idleMilliseconds: 60_000))
        let provider = CurlProvider.trusting(proxy.authority)
        let response = try await provider.response(for: ApiRequest(url: proxy.url("/")))
        #expect(response.headers["X-Protocol"] == "2.0")
        #expect(try await response.body.collect(upTo: 100) == Data("hello".utf8))
    }

    /// HAProxy closes idle connections, and some requests are sent on a connection that is just being closed.
    ///
    /// On a busy machine, HAProxy's idle limit of 5 ms may pass before a POST arrives on a new connection.
    @Test(arguments: Wire.secure, [HTTPMethod.get, .post])
    func aConnectionThatIsClosedWhenIdleLosesNoGETAndRepeatsNoPOST(_ wire: Wire, _ method: HTTPMethod) async throws {
        let proxy = try HAProxy(.server(idleMilliseconds: 5))
        let load = Load(method, 2_000, inFlight: 8, longestPause: .milliseconds(10))
        let result = try await load.run(over: wire.provider(trusting: proxy.authority), at: proxy.url("/"))
        let problems = result.problems(processed: try proxy.processedCounts())
        #expect(problems == [])
        #expect(result.connections.count > 8)
    }

    /// If such a response were accepted, libcurl would send the requests of several calls at once on that connection.
    @Test(arguments: ["HTTP/2 200 ", "HTTP/2.0 200 OK"])
    func aResponseOfHTTP2IsRefusedOnAConnectionOfHTTP1(_ line: String) async throws {
        let server = try RawServer { connection in
            while let head = connection.readHead() {
                let status = head.hasPrefix("GET /bad ") ? line : "HTTP/1.1 200 OK"
                connection.send("\(status)\r\nContent-Length: 5\r\n\r\nhello")
            }
        }
        let proxy = try HAProxy(.tunnel(to: server.port))
        let provider = CurlProvider.trusting(proxy.authority)
        let error = await #expect(throws: ApiConnectorError.self) {
            _ = try await provider.response(for: ApiRequest(url: proxy.url("/bad")))
        }
        #expect(error?.kind == .malformedResponse)
        // libcurl from 8.12 on refuses one of the two lines itself.
        let details = [
            "the response starts with \"\(line)\\r\\n\", and not with a status line of HTTP/1.1",
            "libcurl says: Version mismatch (from HTTP/1 to HTTP/2) (code 8)",
        ]
        #expect(details.contains(error?.detail ?? ""), "\(error?.detail ?? "")")
        let neighbor = try await provider.response(for: ApiRequest(url: proxy.url("/good")))
        #expect(try await neighbor.body.collect(upTo: 100) == Data("hello".utf8))
    }
}
#endif
