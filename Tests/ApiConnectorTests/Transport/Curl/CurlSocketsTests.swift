// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
@testable import ApiConnectorTestServers
import ApiConnector
import Testing

@testable import ApiConnector
@testable import ApiConnectorTesting

/// The questions about the sockets of connections.
struct CurlSocketsTests {
    private let listener: Listener
    private let socket: Socket
    private let peer: Socket
    private let name: CurlConnectionName
    private let watched: CurlEpoll
    private let sockets: CurlSockets

    init() throws {
        let listener = try Listener()
        let socket = try Socket.connect(to: listener.port)
        let name = try #require(socket.use { CurlConnectionName(of: $0) })
        let peer = try listener.accept()
        watched = try peer.use { try CurlEpoll(doorbell: $0) }
        sockets = CurlSockets(descriptors: watched)
        self.peer = peer
        self.listener = listener
        self.socket = socket
        self.name = name
        try socket.use { [sockets] descriptor in sockets.add([descriptor], name, isSequential: false) }
    }

    /// libcurl 8.5 requests events of a paused response's socket, and reads all that arrives.
    @Test func aPausedConnectionIsNotReported() throws {
        try peer.send(Data("tea".utf8))
        try socket.use { [watched, sockets, name] descriptor in
            // CURL_POLL_IN, and CURL_CSELECT_IN below.
            watched.watch(descriptor, 1)
            #expect(watched.wait(-1).map(\.actions) == [1])
            sockets.pauseReading(name, true)
            #expect(watched.wait(0).isEmpty)
            watched.watch(descriptor, 1)
            #expect(watched.wait(0).isEmpty)
            sockets.pauseReading(name, false)
            #expect(watched.wait(-1).map(\.actions) == [1])
        }
    }

    /// The window of the peer is full, but the system accepts more bytes.
    @Test func bytesForAPeerThatDoesNotReadAreUnacknowledged() throws {
        let code = try peer.use { descriptor in
            var byteCount: Int32 = 4096
            return setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &byteCount, socklen_t(MemoryLayout<Int32>.size))
        }
        #expect(code == 0)
        let block = [UInt8](repeating: 0, count: 65_536)
        let isWritable = try socket.use { descriptor in
            // The peer takes at most 64 KiB. The send buffer has room for the rest and more.
            for _ in 0..<4 { _ = send(descriptor, block, block.count, Int32(MSG_DONTWAIT)) }
            var question = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            return poll(&question, 1, 0) == 1
        }
        #expect(isWritable)
        #expect(sockets.hasUnacknowledgedBytes(name))
    }

    @Test func bytesThatThePeerHasReadAreAcknowledged() throws {
        #expect(!sockets.hasUnacknowledgedBytes(name))
        try socket.send(Data("request".utf8))
        var received = Data()
        while received.count < 7 { received += try peer.receive() }
        // The reply also acknowledges the bytes.
        try peer.send(Data("reply".utf8))
        #expect(try socket.receive().first == UInt8(ascii: "r"))
        #expect(!sockets.hasUnacknowledgedBytes(name))
    }
}
#endif
