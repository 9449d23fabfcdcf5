// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The body of a response: its bytes in chunks, as they arrive.
///
/// A streamed body can be read only once: iterate it, or use ``collect(upTo:)``. Dropping a streamed body before its
/// end cancels the transfer.
public struct ResponseBody: Sendable {
    private enum Content: Sendable {
        case data(Data)
        case reader(ResponseBodyReader)
    }

    private let content: Content

    /// Makes a body from collected bytes.
    public init(_ data: Data) {
        content = .data(data)
    }

    /// Makes a body whose chunks are pulled, for your own providers.
    ///
    /// - Parameters:
    ///   - next: Returns the next chunk; nil ends the body. It is not called again while a call is pending. An empty
    ///     chunk is skipped.
    ///   - cancel: Called at most once, if the body is dropped, its reader is canceled or a time limit is reached
    ///     before the end. The task of a pending call of `next` is also canceled. Either this closure or that
    ///     cancellation has to make `next` return. Does nothing by default.
    public init(
        pulling next: @escaping @Sendable () async throws(ApiConnectorError) -> Data?,
        cancel: @escaping @Sendable () -> Void = {}
    ) {
        self.init(source: PulledBodySource(pull: next, stop: cancel))
    }

    /// Makes a body from a sequence of chunks, for your own providers.
    ///
    /// Reading the body iterates the sequence in a task. If the body is canceled, the task is canceled and the sequence
    /// is released. The sequence's errors are converted as in ``ApiConnectorError/mapping(_:_:)``.
    public init<Chunks: AsyncSequence & Sendable>(chunks: Chunks) where Chunks.Element == Data {
        let puller = SequencePuller(chunks)
        self.init(
            pulling: { () async throws(ApiConnectorError) -> Data? in try await puller.next() },
            cancel: { Task { await puller.drop() } }
        )
    }

    init(source: some ResponseBodySource) {
        content = .reader(ResponseBodyReader(source))
    }

    /// The bytes of a collected body; nil for a streamed body.
    ///
    /// Reading this property does not consume the body.
    public var collected: Data? {
        if case .data(let data) = content { data } else { nil }
    }

    /// The reader of a streamed body; nil for a collected body.
    var reader: ResponseBodyReader? {
        if case .reader(let reader) = content { reader } else { nil }
    }

    /// Reads the rest of the body into memory.
    ///
    /// A streamed body that exceeds the limit is canceled; its connection is closed, not reused.
    ///
    /// - Parameter maximumByteCount: The largest accepted size in bytes, after decompression.
    /// - Returns: The bytes in order of arrival; empty for an empty body.
    /// - Throws: ``ApiConnectorError`` of kind `.bodyTooLarge`. For a streamed body, also any kind of error of the
    ///   transport, such as `.cancelled` and `.connectionLost`.
    /// - Complexity: O(*n*) in the number of bytes; O(1) for a collected body.
    @inline(__always)
    public func collect(upTo maximumByteCount: Int) async throws(ApiConnectorError) -> Data {
        switch content {
        case .data(let data):
            guard data.count <= maximumByteCount else { throw .bodyTooLarge(limit: maximumByteCount) }
            return data
        case .reader(let reader):
            return try await reader.collect(upTo: maximumByteCount)
        }
    }
}

extension ResponseBody: AsyncSequence {
    /// Iterates over the body's chunks; an empty body has none.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        fileprivate enum Position: Sendable {
            case data(Data)
            case unclaimed(ResponseBodyReader)
            case reading(ResponseBodyReader)
            case end
        }

        fileprivate var position: Position
        private var first: Data?

        fileprivate init(position: Position) {
            self.position = position
        }

        /// Makes the iterator return a chunk again, before all others.
        mutating func putBack(_ chunk: Data?) {
            first = chunk
        }

        /// The next chunk, never empty; nil at the end.
        ///
        /// - Throws: ``ApiConnectorError``; of kind `.cancelled` immediately after the task was canceled.
        public mutating func next() async throws(ApiConnectorError) -> Data? {
            if let first = first.take() { return first }
            switch position {
            case .data(let data):
                position = .end
                return data.isEmpty ? nil : data
            case .unclaimed(let reader):
                position = .end
                try reader.claim()
                position = .reading(reader)
                return try await reader.next()
            case .reading(let reader):
                return try await reader.next()
            case .end:
                return nil
            }
        }
    }

    /// Starts reading.
    public func makeAsyncIterator() -> AsyncIterator {
        switch content {
        case .data(let data): AsyncIterator(position: .data(data))
        case .reader(let reader): AsyncIterator(position: .unclaimed(reader))
        }
    }
}

extension ResponseBody {
    /// How reading a body ended.
    public enum End: Sendable {
        /// The last chunk was read.
        case finished
        /// Reading failed.
        case failed(ApiConnectorError)
        /// The reader stopped before the end, or the body was never read.
        case discarded
    }

    /// Returns this body with a closure that observes or changes each chunk, and a closure that is called at the end.
    ///
    /// Use it in a wrapper on ``ApiResponse/body``, and return the response with the new body. Nothing is read ahead,
    /// and a cancellation or a time limit ends the body as before.
    ///
    /// - Parameters:
    ///   - transform: Returns a chunk for each chunk; an empty result is skipped. A collected body is one chunk. An
    ///     error ends the body. Returns the chunk unchanged by default.
    ///   - onEnd: Called exactly once, on any thread; immediately for a collected body. If the body was already read,
    ///     this function throws and does not call it. Does nothing by default.
    /// - Throws: ``ApiConnectorError``: the error of `transform` for a collected body; of kind `.other` for a body that
    ///   was already read.
    public func transformed(
        _ transform: @escaping @Sendable (Data) throws(ApiConnectorError) -> Data = { $0 },
        onEnd: @escaping @Sendable (End) -> Void = { _ in }
    ) throws(ApiConnectorError) -> ResponseBody {
        guard let reader else {
            do {
                let data = collected ?? Data()
                let body = data.isEmpty ? self : ResponseBody(try transform(data))
                onEnd(.finished)
                return body
            } catch {
                onEnd(.failed(error))
                throw error
            }
        }
        return ResponseBody(source: try TransformedBody(reader, transform, onEnd))
    }
}

/// A streamed body whose chunks pass through a wrapper's closures.
private final class TransformedBody: ResponseBodySource {
    private let reader: ResponseBodyReader
    private let transform: @Sendable (Data) throws(ApiConnectorError) -> Data
    private let onEnd: Locked<(@Sendable (ResponseBody.End) -> Void)?>

    init(
        _ reader: ResponseBodyReader,
        _ transform: @escaping @Sendable (Data) throws(ApiConnectorError) -> Data,
        _ onEnd: @escaping @Sendable (ResponseBody.End) -> Void
    ) throws(ApiConnectorError) {
        try reader.claim()
        self.reader = reader
        self.transform = transform
        self.onEnd = Locked(onEnd)
    }

    var isWatched: Bool { reader.isWatched }

    func next() async throws(ApiConnectorError) -> Data? {
        do throws(ApiConnectorError) {
            while let chunk = try await reader.next() {
                let transformed = try transform(chunk)
                if !transformed.isEmpty { return transformed }
            }
            end(.finished)
            return nil
        } catch {
            reader.cancel()
            end(.failed(error))
            throw error
        }
    }

    func cancel() {
        // Takes `onEnd` first, so that a pending `next()` does not report a failure. Calls it when the transfer has
        // ended.
        let onEnd = onEnd.withLock { $0.take() }
        reader.cancel()
        onEnd?(.discarded)
    }

    private func end(_ end: ResponseBody.End) {
        onEnd.withLock { $0.take() }?(end)
    }
}
