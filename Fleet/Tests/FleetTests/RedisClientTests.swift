// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTraffic
import Foundation
import NIOCore
import Servers
import Testing

@testable import ApiConnectorFleet

/// Tests of the connection, with a server that sends the bytes that a test chooses.
@Suite(.timeLimit(.minutes(10)))
struct RedisClientTests {
    private let key = SharedStateKey("a", in: "tests")
    private let limit = Duration.seconds(300)
    /// The reply to the script that reads a record.
    private let reply = "*2\r\n$1\r\n7\r\n$3\r\nabc\r\n"

    private func state(on server: RawServer) throws -> RedisSharedState {
        RedisSharedState(try RedisServer(url: "redis://127.0.0.1:\(server.port)"), connectionCount: 1)
    }

    /// Reads a command that reads a record.
    private static func readCommand(_ connection: RawConnection) -> Bool {
        connection.read(through: "{tests/a}d\r\n") != nil
    }

    @Test func aCommandIsSentBeforeTheReplyToTheOneBeforeIt() async throws {
        let server = try RawServer { [reply] connection in
            // The server sends nothing until both commands have arrived.
            guard Self.readCommand(connection), Self.readCommand(connection) else { return }
            connection.send(reply + "*2\r\n$1\r\n8\r\n$-1\r\n")
            connection.waitForClose()
        }
        let state = try state(on: server)
        async let one = state.record(for: key, within: limit)
        async let other = state.record(for: key, within: limit)
        let records = try await [one, other]
        #expect(Set(records.map(\.version)) == [7, 8])
    }

    @Test func aReplyCanArriveInPieces() async throws {
        let server = try RawServer { [reply] connection in
            while Self.readCommand(connection) {
                for character in reply { connection.send(String(character)) }
            }
        }
        let state = try state(on: server)
        for _ in 0..<10 {
            let record = try await state.record(for: key, within: limit)
            #expect(record == SharedRecord(version: 7, data: Data("abc".utf8)))
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 400 Bad Request\r\n\r\n", "the server does not speak the protocol of Redis"),
        ("*2\r\n$1\r\n7\r\n$3\r\nabc\r\n+OK\r\n", ""),
        ("*1\r\n:7\r\n", "form that was not expected"),
        ("-ERR unknown command\r\n", "Redis refuses the operation: ERR unknown command"),
        ("", "Redis has closed the connection"),
    ])
    func anotherReplyFailsTheOperation(_ reply: String, _ text: String) async throws {
        let server = try RawServer { connection in
            guard Self.readCommand(connection) else { return }
            connection.send(reply)
            if !reply.isEmpty { connection.waitForClose() }
        }
        let state = try state(on: server)
        do throws(ApiConnectorError) {
            let record = try await state.record(for: key, within: limit)
            // Bytes after the reply break the connection, but not the operation.
            #expect(text.isEmpty)
            #expect(record.version == 7)
        } catch {
            #expect(error.kind == .sharedStateUnavailable)
            #expect(!text.isEmpty && "\(error)".contains(text), "\(error)")
        }
    }

    @Test func anOperationWithAShortLimitDoesNotCloseTheConnection() async throws {
        let gate = Gate()
        let server = try RawServer { [reply] connection in
            let isFirst = connection.number == 1
            while Self.readCommand(connection) {
                if isFirst { gate.waitOnThread() }
                connection.send(isFirst ? reply : "*2\r\n$1\r\n9\r\n$-1\r\n")
            }
        }
        let state = try state(on: server)
        async let slow = state.record(for: key, within: limit)
        let error = await #expect(throws: ApiConnectorError.self) {
            try await state.record(for: key, within: .microseconds(1))
        }
        #expect(error?.kind == .sharedStateUnavailable)
        gate.open()
        #expect(try await slow.version == 7)
        #expect(try await state.record(for: key, within: limit).version == 7)
    }

    @Test func aConnectionThatDoesNotReplyForASecondIsClosedEvenIfLimitsAreShort() async throws {
        let server = try RawServer { [reply] connection in
            // The first connection is never answered.
            if connection.number == 1 { return connection.waitForClose() }
            while Self.readCommand(connection) { connection.send(reply) }
        }
        let state = try state(on: server)
        let error = await #expect(throws: ApiConnectorError.self) {
            try await state.record(for: key, within: .milliseconds(1))
        }
        #expect(error?.kind == .sharedStateUnavailable)
        // This command is also sent on the first connection, and fails when the connection is closed.
        while (try? await state.record(for: key, within: limit)) == nil { await Task.yield() }
    }

    @Test(arguments: [
        "READONLY You can't write against a read only replica.",
        "ERR Error running script (call to f_0): @user_script:7: -READONLY You can't write against a replica.",
        "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
        "NOAUTH Authentication required.",
    ])
    func afterAFailoverAnotherConnectionIsOpened(_ text: String) async throws {
        let server = try RawServer { [reply] connection in
            while Self.readCommand(connection) {
                connection.send(connection.number == 1 ? "-\(text)\r\n" : reply)
            }
        }
        let state = try state(on: server)
        let error = await #expect(throws: ApiConnectorError.self) { try await state.record(for: key, within: limit) }
        #expect("\(error as Any)".contains(text), "\(error as Any)")
        while (try? await state.record(for: key, within: limit)) == nil { await Task.yield() }
    }

    @Test(arguments: [
        ("-ERR unknown command 'AUTH', with args beginning with: 'opensesame-7Kd20' \r\n", "ERR"),
        // Redis quotes at most 128 characters.
        ("-ERR unknown command 'AUTH', with args beginning with: 'opensesa' \r\n", "ERR"),
        ("-WRONGPASS invalid username-password pair\r\n", "WRONGPASS invalid username-password pair"),
    ])
    func aRefusalDoesNotShowThePassword(_ reply: String, _ text: String) async throws {
        let server = try RawServer { connection in
            guard connection.read(through: "opensesame-7Kd20\r\n") != nil else { return }
            connection.send(reply)
            connection.waitForClose()
        }
        let url = "redis://:opensesame-7Kd20@127.0.0.1:\(server.port)"
        let state = RedisSharedState(try RedisServer(url: url), connectionCount: 1)
        let error = await #expect(throws: ApiConnectorError.self) { try await state.record(for: key, within: limit) }
        #expect("\(error as Any)".contains("Redis refuses the connection: \(text)"), "\(error as Any)")
        #expect(!"\(error as Any)".contains("sesa"), "\(error as Any)")
    }

    @Test func afterAFailureTheNextConnectionWaits() async throws {
        let server = try RawServer { _ in }
        let state = try state(on: server)
        var texts: [String] = []
        // Each failure makes the wait longer, so in the end an operation comes too early.
        for _ in 0..<1000 where texts.last?.contains("too early") != true {
            let error = await #expect(throws: ApiConnectorError.self) {
                try await state.record(for: key, within: limit)
            }
            texts.append("\(error as Any)")
        }
        #expect(texts.last?.contains("too early for the next attempt") == true, "\(texts.last ?? "")")
    }

    @Test func aReplyEndsTheFailures() async throws {
        let server = try RawServer { [reply] connection in
            if connection.number == 1 { return }
            while Self.readCommand(connection) { connection.send(reply) }
        }
        let client = RedisClient(try RedisServer(url: "redis://127.0.0.1:\(server.port)"), connectionCount: 1)
        let state = RedisSharedState(client)
        await #expect(throws: ApiConnectorError.self) { try await state.record(for: key, within: limit) }
        // The operation fails a moment before the connection is dropped.
        while client.failureCount == 0 { await Task.yield() }
        while (try? await state.record(for: key, within: limit)) == nil {}
        #expect(client.failureCount == 0)
    }

    @Test func theWaitDoublesUpToTwoSeconds() {
        let waits = (0...8).map { RedisClient.retryWait(after: $0) }
        let doubled: [TimeAmount] = [50, 100, 200, 400, 800, 1600].map { .milliseconds($0) }
        #expect(Array(waits.prefix(6)) == doubled)
        #expect(waits.suffix(3).allSatisfy { $0 == .seconds(2) })
        #expect(RedisClient.retryWait(after: .max) == .seconds(2))
    }
}

/// A gate that blocks a thread until it is opened.
private final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func waitOnThread() {
        semaphore.wait()
        semaphore.signal()
    }

    func open() { semaphore.signal() }
}
