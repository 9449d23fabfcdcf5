// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A response's body: its bytes as they come, in chunks.
///
/// Reading it uses it up: iterate it, or ``collect(upTo:)`` it, once. A streamed body that is dropped before its end
/// cancels the transfer.
public struct ResponseBody: Sendable {
    private enum Content: Sendable {
        case data(Data)
        case reader(ResponseBodyReader)
    }

    private let content: Content

    /// Makes a body of bytes that are all there.
    public init(_ data: Data) {
        content = .data(data)
    }

    /// Makes a body whose chunks are pulled, for providers of your own.
    ///
    /// - Parameters:
    ///   - next: Called for each chunk, one call at a time; nil ends the body. An empty chunk is left out.
    ///   - cancel: Called at most once, when the body is dropped, its reader is canceled or a limit of time is reached
    ///     before the end. The task that a pending call of `next` runs in is canceled as well; one of the two has to
    ///     make it return. Nothing by default.
    public init(
        pulling next: @escaping @Sendable () async throws(ApiConnectorError) -> Data?,
        cancel: @escaping @Sendable () -> Void = {}
    ) {
        self.init(source: PulledBodySource(pull: next, stop: cancel))
    }

    /// Makes a body of a sequence's chunks, for providers of your own.
    ///
    /// The sequence is iterated when the body is, in a task that is canceled when the body is, and then released; its
    /// errors are mapped as ``ApiConnectorError/mapping(_:_:)`` does.
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

    /// The bytes, where they are all there already; nil for a streamed body.
    ///
    /// Looking at them does not use them up.
    public var collected: Data? {
        if case .data(let data) = content { data } else { nil }
    }

    /// What a streamed body is read by; nil for one that is all there.
    var reader: ResponseBodyReader? {
        if case .reader(let reader) = content { reader } else { nil }
    }

    /// Reads the rest of the body into memory.
    ///
    /// A streamed body that passes the limit is canceled; its connection is closed, not reused.
    ///
    /// - Parameter maximumByteCount: Largest accepted size in bytes, after decompression.
    /// - Returns: The bytes in order of arrival; empty for an empty body.
    /// - Throws: ``ApiConnectorError`` of kind `.bodyTooLarge`; for a streamed body also of any kind that its transport
    ///   reports, `.cancelled` and `.connectionLost` among them.
    /// - Complexity: O(*n*) in the number of bytes; O(1) for a body that is collected already.
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
    /// Returns the body's chunks; an empty body has none.
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

        /// Hands a chunk out again, before all others.
        mutating func putBack(_ chunk: Data?) {
            first = chunk
        }

        /// The next chunk, never empty; nil at the end.
        ///
        /// - Throws: ``ApiConnectorError``; of kind `.cancelled`, and at once, when the task is canceled.
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

    /// Starts to read.
    public func makeAsyncIterator() -> AsyncIterator {
        switch content {
        case .data(let data): AsyncIterator(position: .data(data))
        case .reader(let reader): AsyncIterator(position: .unclaimed(reader))
        }
    }
}
