// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
@testable import ApiConnectorTestServers
import Testing

@testable import ApiConnector
@testable import ApiConnectorTesting

/// The record of the connections that were shut down.
struct CurlOpenSocketsTests {
    /// The kernel gives one local port to connections with different servers.
    @Test func aConnectionWithTheLocalPortOfAnotherOneIsNotShutDown() throws {
        let servers = try [Listener(), Listener()]
        let hostile = try Socket.connect(to: servers[0].port)
        let name = try #require(hostile.use { CurlConnectionName(of: $0) })
        #expect(name.localAddress == "127.0.0.1")
        #expect(name.remoteAddress == "127.0.0.1")
        #expect(Int(name.remotePort) == servers[0].port)
        let sockets = CurlOpenSockets()
        try hostile.use { descriptor in
            sockets.add(descriptor)
            sockets.shutDown(descriptor)
        }
        #expect(sockets.isShutDown(name))

        let other = CurlConnectionName(
            localAddress: name.localAddress,
            localPort: name.localPort,
            remoteAddress: name.remoteAddress,
            remotePort: UInt16(servers[1].port)
        )
        #expect(!sockets.isShutDown(other))
        sockets.forget(other)
        #expect(sockets.isShutDown(name))
        sockets.forget(name)
        #expect(!sockets.isShutDown(name))
    }
}
#endif
