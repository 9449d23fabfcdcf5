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

#if Curl && os(Linux)
/// A request's body during an upload: libcurl pulls bytes in a turn of the loop, and a separate task reads the source.
final class CurlUpload: Sendable {
    private struct Guarded {
        var state: CurlUploadState
        var feed: Task<Void, Never>?
        /// Counts the feeds, so that a replaced feed is ignored.
        var generation = 0
        var waiter: CheckedContinuation<Void, Never>?
        /// Whether the source may be read.
        var isAdmitted = false
        var isOver = false
    }

    /// The maximum size of a body that libcurl gets in one piece: 1 MiB.
    ///
    /// libcurl sends such a body without `Expect: 100-continue`. It adds this field to a larger body, which it pulls with
    /// the read callback.
    static let maximumInlineByteCount = 1 << 20

    let byteCount: Int?
    private let source: RequestBodySource?
    private let resume: @Sendable () -> Void
    private let guarded: Locked<Guarded>

    /// - Parameters:
    ///   - source: The source of the body; nil for a body in memory.
    ///   - whole: The body in memory; nil for a source.
    ///   - resume: Tells libcurl that there are more bytes to send.
    init(source: RequestBodySource?, whole: Data? = nil, resume: @escaping @Sendable () -> Void) {
        byteCount = whole?.count ?? source?.byteCount
        self.source = source
        self.resume = resume
        guarded = Locked(Guarded(state: CurlUploadState(whole: whole)))
    }

    /// Why libcurl could not get the body; nil if the source did not fail.
    var failure: ApiConnectorError? {
        guarded.withLock { $0.state.failure }
    }

    /// The number of bytes that libcurl has read since the start of the body.
    var suppliedByteCount: Int {
        guarded.withLock { $0.state.suppliedByteCount }
    }

    /// Whether libcurl waits for the source.
    var isStarved: Bool {
        guarded.withLock { $0.state.isStarved }
    }

    /// Supplies bytes to libcurl, in a turn of the loop.
    func supply(_ buffer: UnsafeMutableRawBufferPointer) -> CurlUploadState.Supply {
        let (supply, waiter) = guarded.withLock { guarded in
            let supply = guarded.state.supply(buffer)
            let waiter = guarded.state.wantsChunk ? guarded.waiter.take() : nil
            return (supply, waiter)
        }
        waiter?.resume()
        return supply
    }

    /// Allows reading the source, because the transfer no longer waits for a connection.
    ///
    /// A source that waits has no open file, and uses no thread.
    func admit() {
        let waiter = guarded.withLock { guarded in
            guarded.isAdmitted = true
            return guarded.waiter.take()
        }
        waiter?.resume()
    }

    /// Starts the task that reads the source, also when libcurl has to send the body again.
    ///
    /// The source is read after ``admit()``.
    ///
    /// - Returns: Whether the source can be read.
    func start() -> Bool {
        guard let source else {
            guarded.withLock { $0.state.rewind() }
            return true
        }
        let (generation, old) = guarded.withLock {
            guarded -> (Int?, (Task<Void, Never>?, CheckedContinuation<Void, Never>?)) in
            guard !guarded.isOver, guarded.generation == 0 || source.isReplayable else { return (nil, (nil, nil)) }
            if guarded.generation > 0 { guarded.state = CurlUploadState() }
            guarded.generation += 1
            return (guarded.generation, (guarded.feed.take(), guarded.waiter.take()))
        }
        old.0?.cancel()
        old.1?.resume()
        guard let generation else { return false }
        let feed = Task { await self.feed(generation) }
        let isStale = guarded.withLock { guarded in
            guard guarded.generation == generation, !guarded.isOver else { return true }
            guarded.feed = feed
            return false
        }
        if isStale { feed.cancel() }
        return true
    }

    /// Starts again at the first byte, for libcurl.
    func rewind() -> Bool {
        if guarded.withLock({ $0.state.suppliedByteCount == 0 && $0.generation > 0 }) { return true }
        return start()
    }

    /// Releases the source when the transfer ends.
    func stop() {
        let (feed, waiter) = guarded.withLock { guarded in
            guarded.isOver = true
            return (guarded.feed.take(), guarded.waiter.take())
        }
        feed?.cancel()
        waiter?.resume()
    }

    private func feed(_ generation: Int) async {
        guard let source else { return }
        var failure: ApiConnectorError?
        do throws(ApiConnectorError) {
            await waitForRoom(generation)
            guard guarded.withLock({ $0.generation == generation && !$0.isOver }) else { return }
            try await source.send { (chunk) throws(ApiConnectorError) in
                await self.waitForRoom(generation)
                let isPaused = self.guarded.withLock { guarded -> Bool? in
                    guard guarded.generation == generation, !guarded.isOver else { return nil }
                    return guarded.state.deliver(chunk)
                }
                guard let isPaused else {
                    throw ApiConnectorError(.cancelled, at: .request, "the call was canceled")
                }
                if isPaused { self.resume() }
            }
        } catch {
            failure = error
        }
        let isPaused = guarded.withLock { guarded in
            guard guarded.generation == generation, !guarded.isOver else { return false }
            return guarded.state.finish(failure)
        }
        if isPaused { resume() }
    }

    /// Waits until the source may be read, and libcurl has read the last chunk.
    private func waitForRoom(_ generation: Int) async {
        await withCheckedContinuation { continuation in
            let mayGoOn = guarded.withLock { guarded in
                guard guarded.generation == generation, !guarded.isOver else { return true }
                guard !guarded.isAdmitted || !guarded.state.wantsChunk else { return true }
                guarded.waiter = continuation
                return false
            }
            if mayGoOn { continuation.resume() }
        }
    }
}
#endif
