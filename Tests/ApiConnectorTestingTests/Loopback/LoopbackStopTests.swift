// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct LoopbackStopTests {}

extension LoopbackStopTests {
    @Test func wakesEveryBlockedCall() async throws {
        let never = Gate("gate that stays closed")
        let begun = Locked(0)
        let allBegun = Gate("start of all scripts")
        let outcomes = Locked<[LoopbackError]>([])
        let server = try LoopbackServer { connection in
            let count = begun.withLock { count in
                count += 1
                return count
            }
            if count == 4 { allBegun.open() }
            do {
                switch connection.index {
                case 0: _ = try connection.readRequest()
                case 1: try connection.send(Data(count: 64 << 20))
                case 2: try connection.wait(for: never)
                default: try connection.waitUntilPeerCloses()
                }
            } catch let error as LoopbackError {
                outcomes.withLock { $0.append(error) }
            }
        }
        let clients = try (0..<4).map { _ in try Socket.connect(to: server.port) }
        // The send is at work, for its first bytes are here; its last cannot leave.
        #expect(try clients[1].receive(count: 1) == "\0")
        try await allBegun.opened()
        server.stop()
        try await server.threadsEnded()
        #expect(outcomes.withLock { $0 } == Array(repeating: .serverStopped, count: 4))
        #expect(server.errors.isEmpty)
        #expect(server.connectionCount == 4)
        #expect(try clients[0].receiveAll() == "")
    }

    @Test func refusesConnectionsAfterwards() throws {
        let server = try LoopbackServer { _ in }
        server.stop()
        server.stop()
        let error = #expect(throws: LoopbackError.self) { try Socket.connect(to: server.port) }
        #expect(error == .system(call: "connect", code: ECONNREFUSED))
    }

    @Test func happensWhenTheServerIsReleased() throws {
        var server: LoopbackServer? = try LoopbackServer { try $0.waitUntilPeerCloses() }
        let port = try #require(server?.port)
        let client = try Socket.connect(to: port)
        server = nil
        let error = #expect(throws: LoopbackError.self) { try Socket.connect(to: port) }
        #expect(error == .system(call: "connect", code: ECONNREFUSED))
        withExtendedLifetime(client) {}
    }

    @Test func mayBeCalledByAScript() async throws {
        let ready = Gate()
        let box = Box()
        let server = try LoopbackServer { connection in
            try connection.wait(for: ready)
            box.server.withLock { $0 }?.stop()
        }
        box.server.withLock { $0 = server }
        let client = try Socket.connect(to: server.port)
        ready.open()
        #expect(try client.receiveAll() == "")
        try await server.threadsEnded()
        box.server.withLock { $0 = nil }
    }

    #if os(Linux) || os(macOS)
    @Test func closesAllDescriptors() async {
        // In its own process, where no other test opens descriptors.
        await #expect(processExitsWith: .success) {
            // First what the process keeps for good: the timers of Dispatch, which a wait that lasts needs.
            try? await Gate(guardedFor: .milliseconds(1)).opened()
            try await startAndStopServer()
            let before = try FileManager.default.contentsOfDirectory(atPath: "/dev/fd").count
            for _ in 0..<200 { try await startAndStopServer() }
            let after = try FileManager.default.contentsOfDirectory(atPath: "/dev/fd").count
            #expect(after == before)
        }
    }
    #endif
}

private final class Box: Sendable {
    let server = Locked<LoopbackServer?>(nil)
}

private func startAndStopServer() async throws {
    let never = Gate("gate that stays closed")
    let server = try LoopbackServer { connection in
        if connection.index == 0 { _ = try connection.readRequest() }
        try connection.wait(for: never)
    }
    let first = try Socket.connect(to: server.port)
    let second = try Socket.connect(to: server.port)
    try first.send("GET / HTTP/1.1\r\n\r\n")
    _ = try await server.request(0)
    server.stop()
    first.close()
    second.close()
}
