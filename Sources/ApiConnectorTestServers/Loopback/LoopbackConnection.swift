// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// The server's side of one connection, for a script that runs on its own thread.
///
/// Calls block, and must come from one thread. Only `close()`, `reset()` and `abandon()` may be called from any thread.
/// Unless its documentation says otherwise, a call that reads or sends throws ``LoopbackError/peerGone`` if the peer
/// has ended the connection, and ``LoopbackError/serverStopped`` if the server was stopped. A script need not catch
/// these errors.
package final class LoopbackConnection: Sendable {
    /// The connection's index, counted from 0 in order of acceptance.
    package let index: Int

    private let socket: Socket
    private let log: LoopbackLog
    private let input = Locked(LoopbackInput())

    init(_ socket: Socket, index: Int, log: LoopbackLog) {
        self.socket = socket
        self.index = index
        self.log = log
    }

    /// Reads and records the next request with its body.
    ///
    /// The body has a `Content-Length` or is chunked. Trailers are dropped.
    ///
    /// - Parameters:
    ///   - sendsContinue: Whether `Expect: 100-continue` is answered by an interim 100; true by default.
    ///   - onHead: Called with the request when its head has arrived; does nothing by default.
    /// - Returns: The request, or nil if the stream ended before a request began.
    /// - Throws: ``LoopbackError/malformedRequest(_:)`` if the bytes that the peer sends are not a valid request.
    package func readRequest(
        sendsContinue: Bool = true,
        onHead: (LoopbackRequest) -> Void = { _ in }
    ) throws -> LoopbackRequest? {
        guard var request = try readUnrecordedHead() else { return nil }
        onHead(request)
        if sendsContinue, request.lists("100-continue", in: "Expect") {
            try send("HTTP/1.1 100 Continue\r\n\r\n")
        }
        request.body = try readBody(of: request)
        log.append(request)
        return request
    }

    /// Reads and records the head of the next request.
    ///
    /// The body is not read, so that a script can answer early.
    ///
    /// - Returns: The request without its body, or nil if the stream ended before a request began.
    package func readHead() throws -> LoopbackRequest? {
        let request = try readUnrecordedHead()
        if let request { log.append(request) }
        return request
    }

    /// Reads the body that follows a head.
    ///
    /// The recorded request does not change.
    package func readBody(of request: LoopbackRequest) throws -> Data {
        if request.lists("chunked", in: "Transfer-Encoding") { return try readChunks() }
        guard let length = request.header("Content-Length") else { return Data() }
        guard let count = Int(length), count >= 0 else {
            throw LoopbackError.malformedRequest("its Content-Length is \(length.debugDescription)")
        }
        return try take { $0.take(count) }
    }

    /// Reads this number of bytes, for a protocol other than HTTP/1.1.
    ///
    /// Nothing is recorded.
    package func read(_ byteCount: Int) throws -> Data {
        try take { $0.take(byteCount) }
    }

    #if os(Linux)
    /// Blocks until the peer's kernel has acknowledged everything that was sent.
    package func waitUntilDelivered() throws {
        try socket.use { descriptor in
            var unacknowledgedByteCount: Int32 = 0
            while true {
                try check("ioctl", ioctl(descriptor, UInt(TIOCOUTQ), &unacknowledgedByteCount))
                guard unacknowledgedByteCount > 0 else { return }
                // After the connection's end, the count does not change.
                var question = pollfd(fd: descriptor, events: 0, revents: 0)
                guard poll(&question, 1, 0) == 0 else {
                    throw log.stopped.isOpen ? LoopbackError.serverStopped : .peerGone
                }
                sched_yield()
            }
        }
    }
    #endif

    /// Sends these bytes and nothing else.
    package func send(_ data: Data) throws {
        try translatingErrors { try socket.send(data) }
    }

    /// Sends this text in UTF-8 and nothing else, so the text must contain the line ends.
    package func send(_ text: String) throws {
        try send(Data(text.utf8))
    }

    /// Sends a well-formed response, without the body if the request's method forbids it.
    package func send(_ response: LoopbackResponse, answering request: LoopbackRequest) throws {
        try send(response.bytes(answering: request.method))
    }

    /// Sends one chunk of a chunked body.
    ///
    /// An empty chunk ends the body.
    package func sendChunk(_ data: Data) throws {
        try send(Data("\(String(data.count, radix: 16))\r\n".utf8) + data + Data("\r\n".utf8))
    }

    /// Sends one chunk of a chunked body in UTF-8.
    ///
    /// An empty chunk ends the body.
    package func sendChunk(_ text: String) throws {
        try sendChunk(Data(text.utf8))
    }

    /// Blocks until the gate is open, for at most 600 seconds.
    ///
    /// If the server is stopped, the wait ends.
    @available(*, noasync, message: "Await the gate's opened() instead of blocking a thread of the pool.")
    package func wait(for gate: Gate) throws {
        try gate.wait(orUntil: log.stopped)
        if log.stopped.isOpen { throw LoopbackError.serverStopped }
    }

    /// Blocks until the peer has closed or reset the connection, and discards the bytes that it sends until then.
    package func waitUntilPeerCloses() throws {
        do {
            while try !receive().isEmpty {}
        } catch LoopbackError.peerGone {}
    }

    /// Calls a closure once when the peer has ended the connection, or when this side has closed it.
    ///
    /// From then on the script must not read, because a separate thread discards the bytes that the peer still sends.
    func whenPeerHasGone(_ handle: @escaping @Sendable () -> Void) {
        let thread = Thread { [self] in
            try? waitUntilPeerCloses()
            handle()
        }
        thread.name = "loopback watch of connection \(index)"
        thread.start()
    }

    /// Reads a line without its line end; nil at the end of the stream.
    package func readLine() throws -> String? {
        do {
            return try take { $0.takeLine() }
        } catch LoopbackError.peerGone where input.withLock(\.isEmpty) {
            return nil
        }
    }

    /// Ends this side's stream (FIN).
    ///
    /// The peer may continue to send.
    package func finishSending() throws {
        try translatingErrors { try socket.finishSending() }
    }

    /// Closes the connection.
    ///
    /// Unread bytes are dropped first, because the kernel would otherwise send a reset.
    ///
    /// If the peer may still be sending, call ``finishSending()`` and ``waitUntilPeerCloses()`` first.
    package func close() {
        try? socket.discardReceived()
        socket.close()
    }

    /// Ends the connection by a reset (RST).
    package func reset() {
        socket.reset()
    }

    /// Closes the connection at once and wakes the script.
    ///
    /// Unlike ``close()``, it does not drop unread bytes first. It may be called from any thread.
    func abandon() {
        socket.close()
    }

    private func readUnrecordedHead() throws -> LoopbackRequest? {
        do {
            return try LoopbackRequest(head: take { $0.takeHead() }, connection: index)
        } catch LoopbackError.peerGone where input.withLock(\.isEmpty) {
            return nil
        }
    }

    private func readChunks() throws -> Data {
        var body = Data()
        while true {
            let line = try take { $0.takeLine() }
            let size = line.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
            guard let count = Int(size, radix: 16), count >= 0 else {
                throw LoopbackError.malformedRequest("a chunk starts with \(line.debugDescription)")
            }
            guard count > 0 else { break }
            body += try take { $0.take(count) }
            guard try take({ $0.takeLine() }).isEmpty else {
                throw LoopbackError.malformedRequest("a chunk is longer than its size of \(count)")
            }
        }
        while try !take({ $0.takeLine() }).isEmpty {}
        return body
    }

    /// Receives bytes until the attempt succeeds.
    private func take<Value: Sendable>(_ attempt: (inout LoopbackInput) -> Value?) throws -> Value {
        while true {
            if let value = input.withLock({ attempt(&$0) }) { return value }
            let received = try receive()
            guard !received.isEmpty else { throw LoopbackError.peerGone }
            input.withLock { $0.append(received) }
        }
    }

    private func receive() throws -> Data {
        try translatingErrors { try socket.receive() }
    }

    private func translatingErrors<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch LoopbackError.system(_, let code) where [EPIPE, ECONNRESET, ENOTCONN].contains(code) {
            throw log.stopped.isOpen ? LoopbackError.serverStopped : .peerGone
        } catch LoopbackError.connectionClosed where log.stopped.isOpen {
            throw LoopbackError.serverStopped
        }
    }
}
