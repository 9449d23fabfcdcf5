// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import ApiConnector
import Foundation
import Servers
import Testing

/// Tests of connections that the server closes early.
///
/// No GET is lost, and no POST is processed twice.
@Suite(.timeLimit(.minutes(10)), .enabled(if: Nginx.isInstalled, "nginx is missing: Scripts/setup nginx"))
struct KeepAliveTests {
    /// Over HTTP/2 nginx sends a GOAWAY that names the requests that it did not process.
    @Test(arguments: Wire.allCases, [HTTPMethod.get, .post])
    func aConnectionThatEndsAfter20RequestsLosesNoGETAndRepeatsNoPOST(_ wire: Wire, _ method: HTTPMethod) async throws {
        var keepAlive = Nginx.KeepAlive()
        keepAlive.requestCount = 20
        let nginx = try Nginx(keepAlive)
        let load = Load(method, 2_000, inFlight: 16)
        let result = try await load.run(
            over: wire.provider(trusting: nginx.authority),
            at: wire.url(of: nginx, "/small")
        )
        let processed = try nginx.processedCounts()
        #expect(result.problems(processed: processed) == [])
        #expect(result.unprocessedLossCount(processed: processed) == 0, "\(result)")
        // nginx answers a POST before it reads the body. libcurl 7.88 loses a response that arrives while it sends the
        // body.
        if method == .get || wire.protocolName == "HTTP/1.1" { #expect(result.lostCount == 0) }
        #expect(result.connections.count >= 50)
    }

    /// Some requests are sent on a connection that is just being closed.
    ///
    /// On a busy machine, nginx's idle limit of 5 ms may also pass on a new connection, before a POST arrives, or before
    /// the client reads the response to a GET over HTTP/2.
    @Test(arguments: Wire.allCases, [HTTPMethod.get, .post])
    func aConnectionThatIsClosedWhenIdleLosesNoGETAndRepeatsNoPOST(_ wire: Wire, _ method: HTTPMethod) async throws {
        var keepAlive = Nginx.KeepAlive()
        keepAlive.milliseconds = 5
        let nginx = try Nginx(keepAlive)
        let load = Load(method, 2_000, inFlight: 8, longestPause: .milliseconds(10))
        let result = try await load.run(
            over: wire.provider(trusting: nginx.authority),
            at: wire.url(of: nginx, "/small")
        )
        // Requests over HTTP/2 share a connection. If libcurl 7.88 cannot write to it, it also stops reading.
        let isShared = wire.protocolName != "HTTP/1.1"
        let problems = result.problems(processed: try nginx.processedCounts(), newConnectionsMayEnd: isShared)
        #expect(problems == [])
        #expect(result.connections.count > (isShared ? 1 : 8))
    }
}
#endif
