// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What becomes of a request's body on its way to libcurl: a value, the bytes of one chunk at a time.
struct CurlUploadState {
    /// What libcurl's question for bytes is answered with.
    enum Supply: Equatable {
        case copied(Int)
        /// There is nothing now: libcurl is to pause, and is told when there is.
        case pause
        case end
        case fail
    }

    private var chunk = Data()
    private var offset = 0
    private var isComplete = false
    private var isStarved = false
    /// How many bytes libcurl has taken since the body began.
    private(set) var suppliedByteCount = 0
    private(set) var failure: ApiConnectorError?

    /// Makes the state of a source that delivers chunks, or of a body that is there as a whole.
    init(whole: Data? = nil) {
        if let whole {
            chunk = whole
            isComplete = true
        }
    }

    /// Whether the last chunk has been used up, so that the source may deliver the next.
    var wantsChunk: Bool { offset == chunk.count && !isComplete && failure == nil }

    /// Libcurl asks for bytes.
    mutating func supply(_ buffer: UnsafeMutableRawBufferPointer) -> Supply {
        if failure != nil { return .fail }
        let count = min(buffer.count, chunk.count - offset)
        if count > 0 {
            let start = chunk.startIndex + offset
            chunk.copyBytes(to: buffer, from: start..<start + count)
            offset += count
            suppliedByteCount += count
            return .copied(count)
        }
        if isComplete { return .end }
        isStarved = true
        return .pause
    }

    /// The source delivers a chunk, only when ``wantsChunk``.
    ///
    /// - Returns: Whether libcurl pauses and has to be told to go on.
    mutating func deliver(_ chunk: Data) -> Bool {
        self.chunk = chunk
        offset = 0
        return endStarvation()
    }

    /// The source has end, or has failed.
    ///
    /// - Returns: Whether libcurl pauses and has to be told to go on.
    mutating func finish(_ error: ApiConnectorError?) -> Bool {
        if let error { failure = failure ?? error } else { isComplete = true }
        return endStarvation()
    }

    /// Begins again with a body that is there as a whole.
    mutating func rewind() {
        offset = 0
        suppliedByteCount = 0
    }

    private mutating func endStarvation() -> Bool {
        defer { isStarved = false }
        return isStarved
    }
}
