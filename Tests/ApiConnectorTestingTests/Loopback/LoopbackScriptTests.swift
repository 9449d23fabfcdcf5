// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct LoopbackScriptTests {}

extension LoopbackScriptTests {
    @Test func sendsGarbageByteForByte() throws {
        let garbage = Data((0...255).map { UInt8($0) } + Array("HTTP/9 \r\r\n\0".utf8))
        let server = try LoopbackServer { try $0.send(garbage) }
        defer { server.stop() }
        let client = try Socket.connect(to: server.port)
        var received = Data()
        while case let more = try client.receive(), !more.isEmpty { received += more }
        #expect(received == garbage)
    }

    @Test func sendsChunksAndTheLastOne() throws {
        let server = try LoopbackServer { connection in
            try connection.sendChunk("hello, world, it is late")
            try connection.sendChunk(Data([65]))
            try connection.sendChunk("")
        }
        defer { server.stop() }
        let client = try Socket.connect(to: server.port)
        #expect(try client.receiveAll() == "18\r\nhello, world, it is late\r\n1\r\nA\r\n0\r\n\r\n")
    }

    @Test func pausesUntilTheGateOpens() throws {
        let gate = Gate()
        let server = try LoopbackServer { connection in
            try connection.send("first")
            try connection.wait(for: gate)
            try connection.send("second")
        }
        defer { server.stop() }
        let client = try Socket.connect(to: server.port)
        #expect(try client.receive(upTo: 100) == Data("first".utf8))
        gate.open()
        #expect(try client.receiveAll() == "second")
    }

    @Test func closesInTheMiddle() async throws {
        let half = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"
        try await withServer { connection in
            _ = try connection.readRequest()
            try connection.send(half)
            connection.close()
            let error = #expect(throws: LoopbackError.self) { try connection.send("more") }
            #expect(error == .connectionClosed)
        } _: { server in
            let client = try Socket.connect(to: server.port)
            try client.send("GET / HTTP/1.1\r\n\r\n")
            #expect(try client.receiveAll() == half)
        }
    }

    @Test func closesInOrderAlthoughBytesAreUnread() throws {
        let sent = Gate()
        let server = try LoopbackServer { try $0.wait(for: sent) }
        defer { server.stop() }
        let client = try Socket.connect(to: server.port)
        try client.send("unread")
        sent.open()
        #expect(try client.receiveAll() == "")
        // Waits for the close to be complete; had it reset the connection, sending would fail at once.
        server.stop()
        #expect(throws: Never.self) { try client.send("more") }
    }

    @Test func resetIsSeenAsAReset() throws {
        let gate = Gate()
        let server = try LoopbackServer { connection in
            _ = try connection.readRequest()
            try connection.send("half")
            try connection.wait(for: gate)
            connection.reset()
        }
        defer { server.stop() }
        let client = try Socket.connect(to: server.port)
        try client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(try client.receive(count: 4) == "half")
        gate.open()
        let error = #expect(throws: LoopbackError.self) { try client.receive() }
        #expect(error == .system(call: "recv", code: ECONNRESET))
    }

    @Test func resetFromAnotherThreadWakesTheReaderAndSendsNoEndOfStream() async throws {
        let accepted = Locked<LoopbackConnection?>(nil)
        try await withServer { connection in
            accepted.withLock { $0 = connection }
            try connection.send("ready")
            let error = #expect(throws: LoopbackError.self) { try connection.waitUntilPeerCloses() }
            #expect(error == .connectionClosed)
        } _: { server in
            let client = try Socket.connect(to: server.port)
            #expect(try client.receive(count: 5) == "ready")
            accepted.withLock { $0 }?.reset()
            let error = #expect(throws: LoopbackError.self) { try client.receive() }
            #expect(error == .system(call: "recv", code: ECONNRESET))
        }
    }

    @Test func resetFromAnotherThreadWakesTheSender() async throws {
        let accepted = Locked<LoopbackConnection?>(nil)
        try await withServer { connection in
            accepted.withLock { $0 = connection }
            let error = #expect(throws: LoopbackError.self) { try connection.send(Data(count: 64 << 20)) }
            #expect(error == .connectionClosed)
        } _: { server in
            let client = try Socket.connect(to: server.port)
            #expect(try client.receive(count: 1) == "\0")
            accepted.withLock { $0 }?.reset()
            #if os(Linux)
            let error = #expect(throws: LoopbackError.self) { try client.receiveAll() }
            #expect(error == .system(call: "recv", code: ECONNRESET))
            #endif
        }
    }

    @Test func finishSendingLeavesTheOtherDirectionOpen() throws {
        let server = try LoopbackServer { connection in
            try connection.send("all")
            try connection.finishSending()
            _ = try connection.readRequest()
            try connection.waitUntilPeerCloses()
        }
        defer { server.stop() }
        let client = try Socket.connect(to: server.port)
        #expect(try client.receiveAll() == "all")
        try client.send("GET /late HTTP/1.1\r\n\r\n")
        try client.finishSending()
    }

    @Test(arguments: [false, true])
    func noticesThatThePeerHasClosedTheConnection(byReset: Bool) async throws {
        let noticed = Gate("notice")
        let server = try LoopbackServer { connection in
            try connection.waitUntilPeerCloses()
            noticed.open()
        }
        defer { server.stop() }
        let client = try Socket.connect(to: server.port)
        try client.send("thrown away")
        if byReset { client.reset() } else { client.close() }
        try await noticed.opened()
        #expect(server.errors.isEmpty)
    }

    @Test func saysThatThePeerIsGone() async throws {
        let gone = Gate()
        let outcome = Locked<LoopbackError?>(nil)
        try await withServer { connection in
            try connection.wait(for: gone)
            do {
                while true { try connection.send("more") }
            } catch let error as LoopbackError {
                outcome.withLock { $0 = error }
            }
        } _: { server in
            try Socket.connect(to: server.port).reset()
            gone.open()
        }
        #expect(outcome.withLock { $0 } == .peerGone)
    }

    #if os(Linux)
    /// The kernel counts the bytes that the peer has not acknowledged, also after the end of the connection.
    @Test func doesNotWaitForTheDeliveryToAPeerThatIsGone() async throws {
        let outcome = Locked<LoopbackError?>(nil)
        try await withServer { connection in
            do {
                while true {
                    try connection.send(Data(count: 1 << 20))
                    try connection.waitUntilDelivered()
                }
            } catch let error as LoopbackError {
                outcome.withLock { $0 = error }
            }
        } _: { server in
            let client = try Socket.connect(to: server.port)
            #expect(try client.receive(count: 1) == "\0")
            client.reset()
        }
        #expect(outcome.withLock { $0 } == .peerGone)
    }
    #endif

    @Test func recordsTheErrorsOfAScript() async throws {
        struct ScriptError: Error {}
        let server = try LoopbackServer { _ in throw ScriptError() }
        let client = try Socket.connect(to: server.port)
        #expect(try client.receiveAll() == "")
        server.stop()
        try await server.threadsEnded()
        #expect(server.errors.count == 1)
        #expect(server.errors.first is ScriptError)
    }

    /// Runs a script and a test against each other until both have ended, since the script is checked, too.
    private func withServer(
        _ serve: @escaping @Sendable (LoopbackConnection) throws -> Void,
        _ test: (LoopbackServer) throws -> Void
    ) async throws {
        let served = Gate("end of the script")
        let server = try LoopbackServer { connection in
            defer { served.open() }
            try serve(connection)
        }
        defer { server.stop() }
        try test(server)
        try await served.opened()
    }
}
