// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

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
