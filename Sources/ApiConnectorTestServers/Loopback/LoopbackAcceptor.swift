// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Accepts connections, and runs the script for each connection on its own thread.
///
/// The threads hold the acceptor, not the server. So a server without references is released, and its release stops the
/// acceptor.
final class LoopbackAcceptor: Sendable {
    private struct State {
        var connectionCount = 0
        var connections: [Int: LoopbackConnection] = [:]
        var ends: [Gate] = []
        var threadCount = 1
        var isStopped = false
    }

    private let listener: Listener
    private let log: LoopbackLog
    private let limit: Duration
    private let serve: @Sendable (LoopbackConnection) throws -> Void
    private let state = Locked(State())
    private let accepting = DispatchGroup()

    /// Opened when the acceptor is stopped and the last thread has left the script.
    let threadsEnded: Gate

    init(
        log: LoopbackLog,
        guardedFor limit: Duration,
        serve: @escaping @Sendable (LoopbackConnection) throws -> Void
    ) throws {
        self.listener = try Listener()
        self.log = log
        self.serve = serve
        self.limit = limit
        threadsEnded = Gate("end of the server's threads", guardedFor: limit)
    }

    var port: Int { listener.port }

    var connectionCount: Int { state.withLock { $0.connectionCount } }

    /// The gate that opens when the script of a connection has ended; nil if the connection is not accepted yet.
    func end(of connection: Int) -> Gate? {
        state.withLock { $0.ends.indices.contains(connection) ? $0.ends[connection] : nil }
    }

    func start() {
        accepting.enter()
        startThread("accept") { [self] in
            acceptConnections()
            accepting.leave()
            threadDidEnd()
        }
    }

    /// Stops the server.
    ///
    /// Every descriptor is closed when the method returns. It never waits for a script, so a script may call it.
    func stop() {
        listener.close()
        accepting.wait()
        // No connection can be added from here on.
        let connections = state.withLock { state in
            state.isStopped = true
            return state.connections.values
        }
        for connection in connections { connection.abandon() }
        openIfEnded()
    }

    private func acceptConnections() {
        do {
            while true { run(on: add(try listener.accept())) }
        } catch {
            log.append(error)
            listener.close()
        }
    }

    private func add(_ socket: Socket) -> LoopbackConnection {
        state.withLock { state in
            let connection = LoopbackConnection(socket, index: state.connectionCount, log: log)
            state.connections[connection.index] = connection
            state.connectionCount += 1
            state.ends.append(Gate("end of connection \(connection.index)", guardedFor: limit))
            state.threadCount += 1
            return connection
        }
    }

    private func run(on connection: LoopbackConnection) {
        startThread("connection \(connection.index)") { [self] in
            do { try serve(connection) } catch { log.append(error) }
            connection.close()
            let end = state.withLock { state in
                state.connections[connection.index] = nil
                return state.ends[connection.index]
            }
            end.open()
            threadDidEnd()
        }
    }

    private func startThread(_ role: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = "loopback \(port) \(role)"
        thread.start()
    }

    private func threadDidEnd() {
        state.withLock { $0.threadCount -= 1 }
        openIfEnded()
    }

    private func openIfEnded() {
        if state.withLock({ $0.isStopped && $0.threadCount == 0 }) { threadsEnded.open() }
    }
}
