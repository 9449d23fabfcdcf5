// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A source of two closures.
final class PulledBodySource: ResponseBodySource {
    private let pull: @Sendable () async throws(ApiConnectorError) -> Data?
    private let stop: @Sendable () -> Void

    init(
        pull: @escaping @Sendable () async throws(ApiConnectorError) -> Data?,
        stop: @escaping @Sendable () -> Void
    ) {
        self.pull = pull
        self.stop = stop
    }

    func next() async throws(ApiConnectorError) -> Data? { try await pull() }

    func cancel() { stop() }
}

/// Pulls a sequence whose iterator cannot be shared: only one thing at a time happens inside an actor.
actor SequencePuller<Chunks: AsyncSequence & Sendable> where Chunks.Element == Data {
    private let chunks: Chunks
    private var iterator: Chunks.AsyncIterator?

    init(_ chunks: Chunks) {
        self.chunks = chunks
    }

    func next() async throws(ApiConnectorError) -> Data? {
        var current = iterator ?? chunks.makeAsyncIterator()
        defer { iterator = current }
        do {
            return try await current.next(isolation: self)
        } catch {
            throw ApiConnectorError(mapping: error, request: nil)
        }
    }
}
