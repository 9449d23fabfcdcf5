// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A response body that a test sends in pieces while the client reads it.
///
/// ```swift
/// let feed = BodyFeed()
/// script.on(.news).answer(.events(feed))
/// …
/// try await feed.send(event: "post", data: #"{"id":1}"#)
/// feed.finish()
/// ```
///
/// ``send(_:)`` returns when the client has received the piece. The body of its loop may run later;
/// ``sendAndWait(_:)`` waits for it. Both wait up to a minute for the client. The client waits for the next piece as for
/// a server, until its call times out or is canceled, or until the script ends.
public final class BodyFeed: Sendable {
    private enum Piece: Sendable {
        case bytes(Data, _ isProcessed: Eventual<Bool>)
        case end(ApiConnectorError?)
    }

    private struct State {
        var pieces: [(piece: Piece, taken: Eventual<Bool>)] = []
        var reader: Eventual<Piece>?
        /// Set when the client asks for the next piece, or stops reading.
        var isProcessed: Eventual<Bool>?
        var hasEnded = false
        var hasStopHandler = false
    }

    private let state = Locked(State())

    /// Makes a feed for one body.
    public init() {}

    /// Sends bytes, and returns when the client has received them.
    ///
    /// - Throws: An error if the client does not read the bytes within a minute or has stopped reading;
    ///   `CancellationError`.
    public func send(_ bytes: Data) async throws {
        _ = try await sent(bytes)
    }

    /// Sends bytes, and returns when the client has processed them.
    ///
    /// The client has processed the bytes when it asks for the next ones, or has stopped reading. Before that, the body
    /// of its loop has run for each element that ends within the bytes. A client that leaves a loop over a
    /// ``/ApiConnector/ResponseBody``, but keeps the body, has not stopped reading.
    ///
    /// - Throws: An error if the client does not read and process the bytes within a minute or has stopped reading
    ///   before; `CancellationError`.
    public func sendAndWait(_ bytes: Data) async throws {
        _ = try await sent(bytes).value(within: .seconds(60), orSay: "the client did not process the fed chunk")
    }

    /// Returns the value that is set when the client has processed the bytes.
    private func sent(_ bytes: Data) async throws -> Eventual<Bool> {
        let isProcessed = Eventual<Bool>()
        let taken = Eventual<Bool>()
        add(.bytes(bytes, isProcessed), taken)
        // If the client has not read the piece in time, the piece is not sent later.
        defer { state.withLock { $0.pieces.removeAll { $0.taken === taken } } }
        let isTaken = try await taken.value(within: .seconds(60), orSay: "the client did not read the fed chunk")
        guard isTaken else { throw WaitExpired(description: "the fed body has already ended") }
        return isProcessed
    }

    /// Sends a server-sent event, and returns when the client has received it.
    ///
    /// - Parameters:
    ///   - name: The event's type; none by default, which means `message`.
    ///   - data: The event's data; each line becomes its own field.
    ///   - id: The event's id; none by default.
    /// - Throws: The same errors as ``send(_:)``.
    public func send(event name: String? = nil, data: String, id: String? = nil) async throws {
        try await send(Self.event(name, data, id))
    }

    /// Sends a server-sent event, and returns when the client has processed it.
    ///
    /// - Parameters:
    ///   - name: The event's type; none by default, which means `message`.
    ///   - data: The event's data; each line becomes its own field.
    ///   - id: The event's id; none by default.
    /// - Throws: The same errors as ``sendAndWait(_:)``.
    public func sendAndWait(event name: String? = nil, data: String, id: String? = nil) async throws {
        try await sendAndWait(Self.event(name, data, id))
    }

    private static func event(_ name: String?, _ data: String, _ id: String?) -> Data {
        var lines: [String] = []
        if let name { lines.append("event: \(name)") }
        lines += data.split(separator: "\n", omittingEmptySubsequences: false).map { "data: \($0)" }
        if let id { lines.append("id: \(id)") }
        return Data((lines.joined(separator: "\n") + "\n\n").utf8)
    }

    /// Ends the body after the client has read everything.
    public func finish() {
        add(.end(nil), Eventual())
    }

    /// Breaks the body off after the client has read everything.
    ///
    /// The error is a lost connection by default.
    public func fail(
        with error: ApiConnectorError = ApiConnectorError(.connectionLost, "the connection was lost in the body")
    ) {
        add(.end(error), Eventual())
    }

    private func add(_ piece: Piece, _ taken: Eventual<Bool>) {
        let (reader, isOver) = state.withLock { state -> (Eventual<Piece>?, Bool) in
            if state.hasEnded { return (nil, true) }
            if let reader = state.reader.take() { return (reader, false) }
            state.pieces.append((piece, taken))
            return (nil, false)
        }
        if isOver { taken.set(false) }
        guard let reader else { return }
        reader.set(piece)
        taken.set(true)
    }

    func next(orUntil stopped: Eventual<ApiConnectorError>) async throws(ApiConnectorError) -> Data? {
        state.withLock { $0.isProcessed.take() }?.set(true)
        let reader = Eventual<Piece>()
        let (early, hasStopHandler) = state.withLock { state -> ((piece: Piece, taken: Eventual<Bool>)?, Bool) in
            defer { state.hasStopHandler = true }
            if !state.pieces.isEmpty { return (state.pieces.removeFirst(), state.hasStopHandler) }
            if state.hasEnded { return ((.end(stopped.current), Eventual()), state.hasStopHandler) }
            state.reader = reader
            return (nil, state.hasStopHandler)
        }
        if let early {
            reader.set(early.piece)
            early.taken.set(true)
        }
        // The handler is set once for the body, not for each piece. So the feed also learns of a reader that stops
        // between two pieces.
        if !hasStopHandler { stopped.whenSet { [weak self] in self?.close($0) } }
        switch await reader.value() {
        case .bytes(let data, let isProcessed):
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.isProcessed = isProcessed }
                return state.hasEnded
            }
            if hasEnded { isProcessed.set(true) }
            return data
        case .end(let error):
            close()
            if let error { throw error }
            return nil
        }
    }

    func close(_ error: ApiConnectorError? = nil) {
        let (left, reader, isProcessed) = state.withLock { state in
            state.hasEnded = true
            defer { state.pieces = [] }
            return (state.pieces, state.reader.take(), state.isProcessed.take())
        }
        isProcessed?.set(true)
        reader?.set(.end(error))
        for (_, taken) in left { taken.set(false) }
    }
}
