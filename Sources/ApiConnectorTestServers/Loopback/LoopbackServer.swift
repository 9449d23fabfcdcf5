// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// A server on 127.0.0.1 that sends the bytes of a script over real sockets.
///
/// ```swift
/// let server = try LoopbackServer { connection in
///     _ = try connection.readRequest()
///     try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
///     connection.reset()
/// }
/// defer { server.stop() }
/// ```
package final class LoopbackServer: Sendable {
    private let acceptor: LoopbackAcceptor
    private let log: LoopbackLog
    private let root: URL

    /// Starts a server on a free port.
    ///
    /// - Parameters:
    ///   - limit: The longest wait of ``request(_:)``, ``connectionEnded(_:)`` and ``threadsEnded()``; 600 seconds
    ///     by default.
    ///   - serve: The script. It runs once per connection on its own thread, and may block. When it returns or throws,
    ///     the connection is closed. Do not capture the server in the script: the server would then run until
    ///     ``stop()``.
    /// - Throws: ``LoopbackError/system(call:code:)`` if no socket is available.
    package init(
        guardedFor limit: Duration = .seconds(600),
        _ serve: @escaping @Sendable (LoopbackConnection) throws -> Void
    ) throws {
        log = LoopbackLog(guardedFor: limit)
        acceptor = try LoopbackAcceptor(log: log, guardedFor: limit, serve: serve)
        guard let root = URL(string: "http://\(Self.host):\(acceptor.port)/") else {
            throw LoopbackError.system(call: "URL", code: EINVAL)
        }
        self.root = root
        acceptor.start()
    }

    /// Starts a server that answers every request with a well-formed response and keeps connections alive.
    ///
    /// A connection ends when the client ends it, or when either side has sent `Connection: close`.
    package static func responding(
        _ response: @escaping @Sendable (LoopbackRequest) -> LoopbackResponse
    ) throws -> LoopbackServer {
        try LoopbackServer { connection in
            while let request = try connection.readRequest() {
                let answer = response(request)
                try connection.send(answer, answering: request)
                if answer.closesConnection || request.lists("close", in: "Connection") { return }
            }
        }
    }

    deinit { stop() }

    /// The host of the server's URLs: 127.0.0.1, or `localhost` on Apple's systems, where App Transport Security
    /// refuses http to an IP address.
    package static var host: String { Socket.loopbackHost }

    /// The port of 127.0.0.1 that the server listens on.
    package var port: Int { acceptor.port }

    /// Returns the URL of a path on this server.
    ///
    /// - Parameter path: Path, query and fragment, encoded or not; `/` by default. A missing first slash is added.
    /// - Returns: An absolute URL with the scheme `http`.
    package func url(_ path: String = "/") -> URL {
        let path = path.hasPrefix("/") ? path : "/" + path
        return URL(string: "http://\(Self.host):\(port)" + path) ?? root.appending(path: path)
    }

    /// The number of connections accepted so far.
    package var connectionCount: Int { acceptor.connectionCount }

    /// The requests read so far from all connections, in order of arrival.
    package var requests: [LoopbackRequest] { log.requests }

    /// The errors that scripts have thrown so far, except those that only report the end of a connection.
    package var errors: [any Error] { log.errors }

    /// Waits until a request has been read, and returns it.
    ///
    /// - Parameter number: The index of the request in ``requests``, counted from 0.
    /// - Returns: The request. If it has already arrived, the method returns at once.
    /// - Throws: `CancellationError` if the task is canceled, ``LoopbackError/timedOut(_:)`` if the limit passes, and
    ///   ``LoopbackError/serverStopped`` if the server stops before the request has arrived.
    package func request(_ number: Int) async throws -> LoopbackRequest {
        try await log.request(number)
    }

    /// Closes the listener and all connections.
    ///
    /// No descriptor is open when the method returns.
    ///
    /// It wakes the scripts, but does not wait for their ends, so a script may call it. To wait, use
    /// ``threadsEnded()``.
    package func stop() {
        log.close()
        acceptor.stop()
    }

    /// Waits until the script of an accepted connection has ended.
    ///
    /// - Parameter index: The index of the connection, counted from 0.
    /// - Throws: `CancellationError` if the task is canceled, ``LoopbackError/timedOut(_:)`` if the limit passes, or
    ///   immediately if the connection is not accepted yet.
    package func connectionEnded(_ index: Int) async throws {
        guard let end = acceptor.end(of: index) else {
            throw LoopbackError.timedOut("Connection \(index), counted from 0, is not accepted yet")
        }
        try await end.opened()
    }

    /// Waits until the server was stopped and its last thread has left the script.
    package func threadsEnded() async throws {
        try await acceptor.threadsEnded.opened()
    }
}
