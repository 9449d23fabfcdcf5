// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A streamed body of a session: a bounded buffer between the session's callbacks and the reader.
///
/// On Linux, the session has no back-pressure (rows M1 to M3 of the page "URLSession on Linux"). On Apple's systems,
/// its task is suspended long before the buffer is full. A full buffer fails the call.
final class URLSessionBody: ResponseBodySource {
    /// The maximum number of bytes that wait for the reader: 16 MiB.
    static let windowByteCount = 16 << 20

    private struct Guarded {
        var state = TransferState(
            delivery: .streamed,
            windowByteCount: URLSessionBody.windowByteCount,
            phase: .receiving
        )
        var reader: UnsafeContinuation<Result<Data?, ApiConnectorError>, Never>?
    }

    private let request: ApiRequest
    private let flow: URLSessionFlow?
    private let stop: @Sendable () -> Void
    private let guarded = Locked(Guarded())

    /// Makes the body of a response whose head has arrived.
    ///
    /// - Parameters:
    ///   - request: The request, for errors.
    ///   - flow: Slows the transfer down; nil if that is not possible.
    ///   - stop: Ends the transfer; called outside any lock.
    init(of request: ApiRequest, flow: URLSessionFlow?, stop: @escaping @Sendable () -> Void) {
        self.request = request
        self.flow = flow
        self.stop = stop
    }

    /// Receives bytes, on the session's queue.
    func receive(_ data: Data) {
        guard !data.isEmpty else { return }
        flow?.received(data.count)
        let (intake, reader, chunk) = guarded.withLock { guarded in
            let intake = data.withUnsafeBytes { guarded.state.receive($0) }
            guard case .chunk(let chunk, resumes: _) = guarded.state.handOver() else {
                return (intake, nil as UnsafeContinuation<Result<Data?, ApiConnectorError>, Never>?, Data())
            }
            return (intake, guarded.reader.take(), chunk)
        }
        if let reader {
            flow?.delivered(chunk.count)
            reader.resume(returning: .success(chunk))
        }
        if case .full = intake { overflow() }
    }

    /// Ends the body when the transfer has ended.
    func end(_ error: ApiConnectorError?) {
        deliver { $0.state.end(error) }
    }

    func next() async throws(ApiConnectorError) -> Data? {
        let result = await withUnsafeContinuation { continuation in
            let reading = guarded.withLock { guarded in
                let reading = guarded.state.read()
                if case .waits = reading { guarded.reader = continuation }
                return reading
            }
            switch reading {
            case .waits: break
            case .chunk(let chunk, resumes: _):
                flow?.delivered(chunk.count)
                continuation.resume(returning: .success(chunk))
            case .over(let result): continuation.resume(returning: result)
            }
        }
        return try result.get()
    }

    func cancel() {
        flow?.end()
        let error = ApiConnectorError.cancelled(request)
        deliver { $0.state.cancel(error) }
        stop()
    }

    private func overflow() {
        flow?.end()
        let error = ApiConnectorError(
            .bodyTooLarge,
            at: .response,
            "the body arrives faster than it is read, \(Self.windowByteCount) bytes are buffered, and "
                + (flow == nil
                    ? "URLSession has no back-pressure; read it faster, or use SystemProvider on Linux, which has"
                    : "URLSession keeps delivering although its task is suspended; read it faster"),
            request: request
        )
        deliver { $0.state.end(error) }
        stop()
    }

    private func deliver(_ event: (inout Guarded) -> TransferState.Action) {
        let (action, reader) = guarded.withLock { guarded in
            let action = event(&guarded)
            guard case .reader = action else {
                return (action, nil as UnsafeContinuation<Result<Data?, ApiConnectorError>, Never>?)
            }
            return (action, guarded.reader.take())
        }
        if case .reader(let result) = action { reader?.resume(returning: result) }
    }
}

/// Back-pressure for a session's task: suspends it while its reader is behind.
///
/// A suspended task still delivers the data that it has already read from the connection.
final class URLSessionFlow: Sendable {
    /// The number of unread bytes that suspends the task: 1 MiB.
    static let suspendingByteCount = 1 << 20

    private struct State {
        var unreadByteCount = 0
        var isSuspended = false
        var isOver = false
    }

    /// Keeps the calls in order: they are enqueued under the lock, and made outside of it.
    private let queue = DispatchQueue(label: "URLSessionFlow")
    private let state = Locked(State())
    private let suspend: @Sendable () -> Void
    private let resume: @Sendable () -> Void

    init(suspend: @escaping @Sendable () -> Void, resume: @escaping @Sendable () -> Void) {
        self.suspend = suspend
        self.resume = resume
    }

    convenience init(of task: URLSessionTask) {
        self.init(suspend: { [weak task] in task?.suspend() }, resume: { [weak task] in task?.resume() })
    }

    /// Counts bytes that have arrived.
    func received(_ byteCount: Int) {
        change { state in
            state.unreadByteCount += byteCount
            guard !state.isSuspended, state.unreadByteCount >= Self.suspendingByteCount else { return nil }
            state.isSuspended = true
            return suspend
        }
    }

    /// Counts bytes that the reader has received.
    func delivered(_ byteCount: Int) {
        change { state in
            state.unreadByteCount -= byteCount
            guard state.isSuspended, state.unreadByteCount < Self.suspendingByteCount / 2 else { return nil }
            state.isSuspended = false
            return resume
        }
    }

    /// Stops suspending, because there is no reader and the task is about to be canceled.
    func end() {
        state.withLock { $0.isOver = true }
    }

    private func change(_ body: (inout State) -> (@Sendable () -> Void)?) {
        state.withLock { state in
            if !state.isOver, let call = body(&state) { queue.async(execute: call) }
        }
    }
}

#if !canImport(FoundationNetworking)
/// Sends chunks through a bound pair of streams, as fast as the session reads the other end.
///
/// Unchecked, because the mutable state and the output stream are only used on `queue`.
final class URLSessionUpload: NSObject, StreamDelegate, @unchecked Sendable {
    /// The capacity of the pair: 64 KiB.
    private static let bufferByteCount = 64 * 1024

    private let output: OutputStream
    private let queue = DispatchQueue(label: "URLSessionUpload")
    private var rest = Data()
    private var writer: CheckedContinuation<Bool, Never>?
    private var isOver = false

    /// Makes a pair of streams.
    ///
    /// - Returns: The writer, and the stream that the session reads; nil if the system has no streams.
    static func makePair() -> (upload: URLSessionUpload, input: InputStream)? {
        var input: InputStream?
        var output: OutputStream?
        Stream.getBoundStreams(withBufferSize: bufferByteCount, inputStream: &input, outputStream: &output)
        guard let input, let output else { return nil }
        return (URLSessionUpload(output), input)
    }

    private init(_ output: OutputStream) {
        self.output = output
        super.init()
        output.delegate = self
        CFWriteStreamSetDispatchQueue(output as CFWriteStream, queue)
        output.open()
    }

    /// Writes a chunk, and returns when the pair has accepted all of it.
    ///
    /// Only one call at a time is allowed. Canceling the task does not close the stream, because its end would look
    /// like the end of the body.
    ///
    /// - Returns: False if the session has closed its end, or if the task was canceled.
    func write(_ chunk: Data) async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async { [self] in
                    (rest, writer) = (chunk, continuation)
                    goOn()
                }
            }
        } onCancel: {
            queue.async { [self] in
                isOver = true
                goOn()
            }
        }
    }

    /// Ends the body, which is complete or no longer read by the session.
    ///
    /// The queued block retains this object, the stream's delegate, until the stream no longer refers to it.
    func close() {
        queue.async { [self] in end() }
    }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        switch eventCode {
        case .hasSpaceAvailable: goOn()
        case .errorOccurred, .endEncountered: end()
        default: break
        }
    }

    private func goOn() {
        while !isOver, !rest.isEmpty, output.hasSpaceAvailable {
            let count = rest.withUnsafeBytes { bytes in
                bytes.bindMemory(to: UInt8.self).baseAddress.map { output.write($0, maxLength: bytes.count) } ?? 0
            }
            guard count > 0 else { return end() }
            rest = rest.dropFirst(count)
        }
        if isOver {
            answer(false)
        } else if rest.isEmpty {
            answer(true)
        }
    }

    private func end() {
        isOver = true
        // The stream does not own its delegate.
        output.delegate = nil
        output.close()
        answer(false)
    }

    private func answer(_ isWritten: Bool) {
        writer.take()?.resume(returning: isWritten)
    }
}

extension URLSessionExchange {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping (InputStream?) -> Void
    ) {
        guard let (upload, input) = URLSessionUpload.makePair() else { return completionHandler(nil) }
        let writer = Task { [self] in
            var isTaken = true
            do throws(ApiConnectorError) {
                try await request.body.send { (chunk) throws(ApiConnectorError) in
                    isTaken = await upload.write(chunk)
                    guard isTaken else { throw ApiConnectorError(.cancelled, "URLSession has closed the upload") }
                }
                upload.close()
            } catch {
                // If the session has ended the upload, its own error or response has more information.
                if isTaken, !Task.isCancelled { stop(error.completed(request: request)) }
            }
        }
        let isKept = keepUpload(writer) { upload.close() }
        completionHandler(isKept ? input : nil)
    }
}
#endif
