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

    private func deliver(_ event: (inout Guarded) -> TransferState.Answer) {
        let (answer, reader) = guarded.withLock { guarded in
            let answer = event(&guarded)
            guard case .reader = answer else {
                return (answer, nil as UnsafeContinuation<Result<Data?, ApiConnectorError>, Never>?)
            }
            return (answer, guarded.reader.take())
        }
        if case .reader(let result) = answer { reader?.resume(returning: result) }
    }
}
