// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A listening socket whose blocked `accept()` ends when another thread closes it.
///
/// `shutdown` on a listening socket wakes `accept` on Linux, but is an error on Apple's systems. So `accept()` waits
/// for the socket and for a pipe, to which `close()` writes.
final class Listener: Sendable {
    private let socket: Socket
    private let wakeUp: Socket
    private let waker: Socket
    let port: Int

    init() throws {
        socket = try Socket.listen()
        port = try socket.localPort()
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw LoopbackError.system(call: "pipe", code: errno) }
        wakeUp = Socket(owning: ends[0])
        waker = Socket(owning: ends[1])
    }

    /// Waits for the next connection.
    ///
    /// Throws ``LoopbackError/connectionClosed`` when the listener is closed.
    func accept() throws -> Socket {
        while true {
            try waitUntilReadable()
            if let accepted = try socket.accept() { return accepted }
        }
    }

    func close() {
        _ = try? waker.use { write($0, "!", 1) }
        socket.close()
        // The waker is closed first: a write to a pipe without a reader raises SIGPIPE, and two threads may call
        // `close()` at once.
        waker.close()
        wakeUp.close()
    }

    private func waitUntilReadable() throws {
        try socket.use { listening in
            try wakeUp.use { waking in
                var entries = [listening, waking].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
                guard poll(&entries, nfds_t(entries.count), -1) >= 0 || errno == EINTR else {
                    throw LoopbackError.system(call: "poll", code: errno)
                }
                guard entries[1].revents == 0 else { throw LoopbackError.connectionClosed }
            }
        }
    }
}
