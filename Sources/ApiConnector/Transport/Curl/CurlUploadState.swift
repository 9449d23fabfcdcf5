// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The state of an upload: a value that holds one chunk at a time.
struct CurlUploadState {
    /// The reply to libcurl's request for bytes.
    enum Supply: Equatable {
        case copied(Int)
        /// There are no bytes now: libcurl pauses, and is resumed later.
        case pause
        case end
        case fail
    }

    private var chunk = Data()
    private var offset = 0
    private var isComplete = false
    /// Whether libcurl has paused, because there are no bytes now.
    private(set) var isStarved = false
    /// The number of bytes that libcurl has read since the start of the body.
    private(set) var suppliedByteCount = 0
    private(set) var failure: ApiConnectorError?

    /// Makes the state for a source that delivers chunks, or for a body in memory.
    init(whole: Data? = nil) {
        if let whole {
            chunk = whole
            isComplete = true
        }
    }

    /// Whether the last chunk was consumed, so that the source may deliver the next one.
    var wantsChunk: Bool { offset == chunk.count && !isComplete && failure == nil }

    /// Replies to libcurl's request for bytes.
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

    /// Takes a chunk from the source, only when ``wantsChunk``.
    ///
    /// - Returns: Whether libcurl has paused and has to be resumed.
    mutating func deliver(_ chunk: Data) -> Bool {
        self.chunk = chunk
        offset = 0
        return endStarvation()
    }

    /// Records that the source has ended or failed.
    ///
    /// - Returns: Whether libcurl has paused and has to be resumed.
    mutating func finish(_ error: ApiConnectorError?) -> Bool {
        if let error { failure = failure ?? error } else { isComplete = true }
        return endStarvation()
    }

    /// Starts again with a body in memory.
    mutating func rewind() {
        offset = 0
        suppliedByteCount = 0
    }

    private mutating func endStarvation() -> Bool {
        defer { isStarved = false }
        return isStarved
    }
}
