// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)

/// One request over libcurl: its state, and the tasks that wait for it.
///
/// Unchecked, because C code has pointers to its contents. The header list of `requestHead`, `handle`, `group`, `fileHold` and
/// `fileHoldNumber` are only used by the thread that has the loop's turn. Everything else is constant or protected by
/// the lock, which is never held while a continuation is resumed or libcurl is called.
final class CurlTransfer: @unchecked Sendable {
    typealias Outcome = Result<TransferState.Arrival, ApiConnectorError>
    typealias ReadResult = Result<Data?, ApiConnectorError>
    typealias Reader = UnsafeContinuation<ReadResult, Never>

    private struct Guarded {
        var state: TransferState
        /// Why the transfer was stopped, possibly before it was started.
        var stopped: ApiConnectorError?
        // Unsafe continuations, because they cost less. The tests of TransferState check that each is resumed once.
        var caller: UnsafeContinuation<Outcome, Never>?
        var reader: Reader?
    }

    let request: ApiRequest
    let requestHead: CurlRequestHead
    let upload: CurlUpload?
    /// The body to send in one piece; empty for a method that announces an empty body.
    ///
    /// It is nil for any other request without a body, and for an upload.
    let inlineBody: Data?
    /// How the body is decoded; nil to deliver it unchanged.
    let decompression: BodyDecompression?
    /// The easy handle of the transfer; only used by the thread that has the loop's turn.
    var handle: CurlHandle?
    /// The group of calls that share their connection limits with this transfer while it runs.
    ///
    /// It is nil before and after that time, and if no limit is set.
    var group: CurlWaitingQueue<CurlTransfer>.Group?
    /// The hold of the file that the response's body fills; nil before its head, and for any other response.
    var fileHold: FileHold?
    /// The number of the request among those of its download; nil for any other request, and without a limit.
    var fileHoldNumber: Int?

    private let queue: CurlCommandQueue
    private let guarded: Locked<Guarded>

    /// The phases that the transfer has reached, and when.
    struct Timing {
        var timeline: CurlTimeline
        var tlsVersion: String?
    }

    let timing: Locked<Timing>
    /// The record from which the caller reads the times; nil if the provider does not measure them.
    let timesRecord: TransportTimesRecord?

    init(
        _ request: ApiRequest,
        windowByteCount: Int,
        decompression: BodyDecompression?,
        keepsCookies: Bool = false,
        measuresTimes: Bool = true,
        queue: CurlCommandQueue
    ) throws(ApiConnectorError) {
        self.request = request
        self.queue = queue
        self.decompression = decompression
        timing = Locked(Timing(timeline: CurlTimeline(start: measuresTimes ? MonotonicTime.nanoseconds : 0)))
        timesRecord = measuresTimes ? TransportTimesRecord() : nil
        requestHead = CurlRequestHead(
            request,
            acceptEncoding: decompression?.acceptEncoding,
            keepsCookies: keepsCookies
        )
        let waker = UploadWaker(queue)
        if request.method == .head || request.body.isEmpty {
            inlineBody = request.method.announcesEmptyBody ? Data() : nil
            upload = nil
        } else if let source = request.body.source {
            inlineBody = nil
            upload = CurlUpload(source: source) { waker.resume() }
        } else {
            let data: Data
            do {
                data = try request.body.data()
            } catch {
                throw error.completed(request: request)
            }
            let isShort = data.count <= CurlUpload.maximumInlineByteCount
            inlineBody = isShort ? data : nil
            upload = isShort ? nil : CurlUpload(source: nil, whole: data) { waker.resume() }
        }
        guarded = Locked(
            Guarded(state: TransferState(delivery: request.delivery, windowByteCount: windowByteCount))
        )
        if upload != nil { waker.transfer = self }
    }

    deinit {
        upload?.stop()
    }
}

// MARK: The caller's side

extension CurlTransfer {
    func start(reporting continuation: UnsafeContinuation<Outcome, Never>) {
        let stopped = guarded.withLock { guarded in
            if guarded.stopped == nil { guarded.caller = continuation }
            return guarded.stopped
        }
        if let stopped {
            continuation.resume(returning: .failure(stopped))
        } else {
            // Started here, not when libcurl asks for bytes, so that the source has the caller's task-local values. The
            // source is not read while the transfer waits for its place.
            _ = upload?.start()
            queue.start(self)
        }
    }

    /// Ends the transfer for caller and reader immediately; libcurl releases it later.
    func stop(_ error: ApiConnectorError) {
        abandon(error)
        queue.post(.remove(self))
    }

    /// Makes the loop read pending data, and then calls a closure.
    func readPending(then completion: @escaping @Sendable () -> Void) {
        queue.readPending(then: completion)
    }

    /// Ends the transfer for caller and reader.
    func abandon(_ error: ApiConnectorError) {
        var error = error
        if !isOver {
            recordTimes()
            error.timesRecord = timesRecord
        }
        deliver { [error] guarded in
            guarded.stopped = guarded.stopped ?? error
            return guarded.state.cancel(error)
        }
        upload?.stop()
    }
}

extension CurlTransfer: ResponseBodySource {
    func next() async throws(ApiConnectorError) -> Data? {
        // Data that has already arrived needs no continuation.
        let ready = guarded.withLock { $0.state.isReadable ? $0.state.read() : nil }
        if let ready, let reading = result(of: ready) { return try reading.get() }
        let reading = await withUnsafeContinuation { continuation in
            let reading = guarded.withLock { guarded in
                let reading = guarded.state.read()
                if case .waits = reading { guarded.reader = continuation }
                return reading
            }
            if let reading = result(of: reading) { continuation.resume(returning: reading) }
        }
        return try reading.get()
    }

    /// The result for a reader; nil if the reader has to wait.
    private func result(of reading: TransferState.Reading) -> ReadResult? {
        switch reading {
        case .waits: return nil
        case .over(let result): return result
        case .chunk(let chunk, resumes: let resumes):
            if resumes { queue.post(.resume(self)) }
            return .success(chunk)
        }
    }

    func cancel() {
        stop(.cancelled(request))
    }
}

// MARK: The loop's side

extension CurlTransfer {
    /// Whether no task waits for the transfer any more, so that it need not be started.
    var isOver: Bool { guarded.withLock { $0.state.phase == .ended } }

    /// Records that libcurl has read a part of the body.
    func reportSent() {
        guard let upload else { return }
        let count = upload.suppliedByteCount
        request.reportSent(byteCount: count)
        note { timeline in
            timeline.sent = MonotonicTime.nanoseconds
            if count == upload.byteCount { timeline.isSending = false }
        }
    }

    /// Records when the transfer has reached a phase; does nothing if the provider does not measure times.
    func note(_ change: (inout CurlTimeline) -> Void) {
        guard timesRecord != nil else { return }
        timing.withLock { change(&$0.timeline) }
    }

    /// Records that the final head is complete.
    ///
    /// - Returns: False if the body is refused because of its codings.
    func receive(_ head: TransferState.Head) -> Bool {
        request.reportProgress()
        if inlineBody != nil { request.reportBodySent() }
        let isDecoded = head.coding != nil && decompression != nil
        if isDecoded, request.method != .head, !head.status.forbidsBody,
            let reason = ContentCoding.refusal(of: head.headers)
        {
            refuse(.malformedResponse, reason)
            return false
        }
        if let hold = request.values.fileHold, 200..<300 ~= head.status.rawValue { fileHold = hold }
        deliver { $0.state.receive(head, isDecodedLater: isDecoded) }
        return true
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> TransferState.Intake {
        let intake = guarded.withLock { $0.state.receive(bytes) }
        // Bytes after the end of the call are not progress.
        if intake != .refused { request.reportProgress() }
        return intake
    }

    /// Delivers the data that has arrived to a waiting reader.
    ///
    /// - Returns: Whether libcurl has paused and has to be resumed.
    func handOver() -> Bool {
        let (reading, reader) = guarded.withLock { guarded in
            let reading = guarded.state.handOver()
            return (reading, reading == nil ? nil : guarded.reader.take())
        }
        guard case .chunk(let chunk, resumes: let resumes) = reading else { return false }
        reader?.resume(returning: .success(chunk))
        return resumes
    }

    /// Discards the response, because the request is about to be sent again.
    ///
    /// - Returns: False if the caller has a part of the response, or if the response was refused.
    func restart() -> Bool {
        guarded.withLock { $0.state.restart() }
    }

    func refuse(_ kind: ApiConnectorError.Kind, _ reason: String) {
        let error = ApiConnectorError(kind, at: .response, reason, request: request)
        guarded.withLock { $0.state.refuse(error) }
    }

    func end(_ error: ApiConnectorError?) {
        deliver { $0.state.end(error) }
        upload?.stop()
    }

    /// Applies an event while the lock is held, and resumes the affected continuation afterwards.
    private func deliver(_ event: (inout Guarded) -> TransferState.Action) {
        let (action, caller, reader) = guarded.withLock { guarded in
            let action = event(&guarded)
            switch action {
            case .nobody: return (action, nil as UnsafeContinuation<Outcome, Never>?, nil as Reader?)
            case .caller: return (action, guarded.caller.take(), nil)
            case .reader: return (action, nil, guarded.reader.take())
            }
        }
        switch action {
        case .nobody: break
        case .caller(let outcome): caller?.resume(returning: outcome)
        case .reader(let reading): reader?.resume(returning: reading)
        }
    }
}

/// Tells the loop that a transfer's body has more bytes to send, without retaining the transfer.
///
/// Unchecked, because of the weak reference: it is written once, before the transfer is passed to another thread.
private final class UploadWaker: @unchecked Sendable {
    weak var transfer: CurlTransfer?
    private let queue: CurlCommandQueue

    init(_ queue: CurlCommandQueue) {
        self.queue = queue
    }

    func resume() {
        guard let transfer else { return }
        queue.post(.resume(transfer))
    }
}

#endif
