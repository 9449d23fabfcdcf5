// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Reads a response's body for one loop: sends the request with the first batch, and releases the body with the last.
final class ElementSource<Element: Sendable>: BatchSource {
    typealias Open = @Sendable () async throws(ApiConnectorError) -> OpenStream<Element>

    private enum State: Sendable {
        case unopened(Open)
        case open(OpenStream<Element>)
        case busy
        case over
    }

    /// The maximum number of elements that are decoded before the first one is returned.
    private static var batchCount: Int { 512 }

    private let state: Locked<State>

    init(_ open: @escaping Open) {
        state = Locked(.unopened(open))
    }

    /// Parses and decodes the next batch of elements outside the caller's actor.
    ///
    /// The caller's loop then takes the elements from the batch one by one, without leaving its actor.
    @concurrent
    func nextBatch() async throws(ApiConnectorError) -> [Element] {
        let before = state.withLock { state in
            defer { state = .busy }
            return state
        }
        if case .busy = before {
            throw ApiConnectorError(.other, at: .response, "two tasks read one stream at the same time")
        }
        // An error ends the stream.
        var after = State.over
        defer { state.withLock { $0 = after } }
        var stream: OpenStream<Element>
        switch before {
        case .unopened(let open):
            if Task.isCancelled { throw .cancelledReading }
            stream = try await open()
        case .open(let openStream): stream = openStream
        case .busy, .over: return []
        }
        let batch: [Element]
        do throws(ApiConnectorError) {
            batch = try await stream.nextBatch(upTo: Self.batchCount)
        } catch {
            stream.onFailure?()
            throw error
        }
        if !batch.isEmpty, !stream.isOver { after = .open(stream) }
        return batch
    }
}
