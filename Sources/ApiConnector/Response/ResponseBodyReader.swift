// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The source of a streamed body's chunks: a transfer, or the closures of a user's provider.
protocol ResponseBodySource: AnyObject, Sendable {
    /// The next chunk; nil at the end. Never called while another call is pending.
    func next() async throws(ApiConnectorError) -> Data?

    /// Ends the transfer immediately, and makes a pending `next()` fail; called at most once.
    func cancel()

    /// Whether the time limits of the request end the transfer.
    var isWatched: Bool { get }
}

extension ResponseBodySource {
    var isWatched: Bool { false }
}

/// Reads a streamed body once, and cancels its source when the reader is released.
final class ResponseBodyReader: Sendable {
    private enum State {
        case unread, claimed, reading, over
    }

    private let source: any ResponseBodySource
    private let state = Locked(State.unread)

    init(_ source: any ResponseBodySource) {
        self.source = source
    }

    /// Whether the time limits of the request end the transfer.
    var isWatched: Bool { source.isWatched }

    deinit {
        cancel()
    }

    /// Reserves the body for one reader; throws if it is already reserved.
    func claim() throws(ApiConnectorError) {
        let isFirst = state.withLock { state in
            guard state == .unread else { return false }
            state = .claimed
            return true
        }
        guard isFirst else {
            throw ApiConnectorError(
                .other,
                at: .response,
                "the body was already read, and can be read only once; collect it to use it twice"
            )
        }
    }

    func next() async throws(ApiConnectorError) -> Data? {
        while true {
            switch begin() {
            case .over: return nil
            case .reading:
                throw ApiConnectorError(.other, at: .response, "two tasks read one body at the same time")
            case .unread, .claimed: break
            }
            let result = await withTaskCancellationHandler {
                await pull()
            } onCancel: {
                cancel()
            }
            let isOver = finish(result)
            if isOver, Task.isCancelled {
                throw .cancelledReading
            }
            guard let chunk = try result.get() else { return nil }
            if !chunk.isEmpty { return chunk }
        }
    }

    /// Reserves the body and reads it completely; a body that exceeds the limit is canceled.
    func collect(upTo maximumByteCount: Int) async throws(ApiConnectorError) -> Data {
        try claim()
        var body = Data()
        while let chunk = try await next() {
            guard chunk.count <= maximumByteCount - body.count else {
                cancel()
                throw .bodyTooLarge(limit: maximumByteCount)
            }
            if body.isEmpty { body = chunk } else { body.append(chunk) }
        }
        return body
    }

    /// Cancels the source unless the body has ended.
    func cancel() {
        let isFirst = state.withLock { state in
            defer { state = .over }
            return state != .over
        }
        if isFirst { source.cancel() }
    }

    private func begin() -> State {
        state.withLock { state in
            defer { if state == .claimed { state = .reading } }
            return state
        }
    }

    private func finish(_ result: Result<Data?, ApiConnectorError>) -> Bool {
        state.withLock { state in
            guard state == .reading else { return true }
            if case .success(.some) = result { state = .claimed } else { state = .over }
            return false
        }
    }

    private func pull() async -> Result<Data?, ApiConnectorError> {
        do {
            return .success(try await source.next())
        } catch {
            return .failure(error)
        }
    }
}

/// A body source made of two closures.
///
/// Each pull runs in its own task, so that a time limit can end it even if the reader is not canceled.
final class PulledBodySource: ResponseBodySource {
    private typealias Pull = Task<Result<Data?, ApiConnectorError>, Never>

    private struct State {
        var pending: Pull?
        var isCancelled = false
    }

    private let pull: @Sendable () async throws(ApiConnectorError) -> Data?
    private let stop: @Sendable () -> Void
    private let state = Locked(State())

    init(
        pull: @escaping @Sendable () async throws(ApiConnectorError) -> Data?,
        stop: @escaping @Sendable () -> Void
    ) {
        self.pull = pull
        self.stop = stop
    }

    func next() async throws(ApiConnectorError) -> Data? {
        let task = Pull { [pull] in
            do throws(ApiConnectorError) {
                return .success(try await pull())
            } catch {
                return .failure(error)
            }
        }
        let isCancelled = state.withLock { state in
            state.pending = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
        defer { state.withLock { $0.pending = nil } }
        return try await task.value.get()
    }

    func cancel() {
        let pending = state.withLock { state in
            state.isCancelled = true
            return state.pending.take()
        }
        stop()
        pending?.cancel()
    }
}

/// Iterates a sequence in an actor, because its iterator cannot be shared.
actor SequencePuller<Chunks: AsyncSequence & Sendable> where Chunks.Element == Data {
    /// Nil after the sequence is dropped.
    private var chunks: Chunks?
    private var iterator: Chunks.AsyncIterator?

    init(_ chunks: Chunks) {
        self.chunks = chunks
    }

    func next() async throws(ApiConnectorError) -> Data? {
        guard let chunks else { return nil }
        var current = iterator ?? chunks.makeAsyncIterator()
        defer { if self.chunks != nil { iterator = current } }
        do {
            return try await current.next(isolation: self)
        } catch {
            throw ApiConnectorError(mapping: error, request: nil)
        }
    }

    /// Releases the sequence, which may hold a connection.
    func drop() {
        chunks = nil
        iterator = nil
    }
}
