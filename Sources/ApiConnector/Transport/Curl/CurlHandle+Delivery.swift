// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

// Receives data from libcurl, and supplies the request's body.

extension CurlHandle {
    /// The return value with which a callback ends the transfer: fewer bytes than it received.
    private static let abort = 0

    func receive(line: UnsafeRawBufferPointer) -> Int {
        guard let transfer else { return Self.abort }
        openSockets.countDelivered(line.count)
        recordUnaskedSend()
        // Over TLS, the handshake decides the HTTP version. libcurl logs the stream of each request over HTTP/2, so a
        // request without a stream uses HTTP/1.
        if isLogged { head.isHTTP1 = log.stream == nil }
        if head.isAtStart, transfer.timesRecord != nil {
            headStart = MonotonicTime.nanoseconds
            headTurn = turns.number
        }
        switch head.append(line) {
        case .proceed: break
        case .complete(isProvisional: true):
            prepareSendWithoutExpectation(of: transfer)
            guard !isBodyUsedUp else { return Self.abort }
        case .complete(isProvisional: false):
            noteHead(of: transfer)
            closeWatch = CurlCloseWatch.watch(easy, for: transfer, head: head.bytes)
            hasTurnShare = head.bytes.starts(with: "HTTP/1".utf8)
            isShared = !hasTurnShare
            if isShared { turns.recordSharing(of: transfer) }
            resumeUpload(of: transfer)
            // RFC 9112, section 6.3: bytes after such a body may be an attempt to smuggle a response.
            if head.hasDoubtfulEnd { easy.set(CCURLOPT_FORBID_REUSE, 1) }
            forbidReuseWithoutBody(of: transfer)
            guard transfer.receive(head: head.take(), isCoded: head.isEncoded) else { return Self.abort }
        case .refused(let reason):
            transfer.refuse(.malformedResponse, reason)
            return Self.abort
        }
        return line.count
    }

    /// Closes the connection of a response over HTTP/1 that came before the first byte of the request's body.
    ///
    /// While libcurl waits for `100 Continue`, the server may answer and then read the announced body (RFC 9110, section
    /// 10.1.1). libcurl sends no body after the answer, but keeps the connection. The server would take the next request
    /// for the body.
    private func forbidReuseWithoutBody(of transfer: CurlTransfer) {
        let byteCount = transfer.inlineBody?.count ?? transfer.upload.map { $0.byteCount ?? 1 } ?? 0
        guard byteCount > 0, head.bytes.starts(with: "HTTP/1".utf8), easy.byteCount(CCURLINFO_SIZE_UPLOAD_T) ?? 0 == 0
        else { return }
        easy.set(CCURLOPT_FORBID_REUSE, 1)
    }

    /// Prepares libcurl's second send after a 417: without `Expect`, on another connection.
    ///
    /// Over HTTP/1, the server may still read the body that the first send has announced (RFC 9110, section 10.1.1). It
    /// would take the second send for the body.
    private func prepareSendWithoutExpectation(of transfer: CurlTransfer) {
        transfer.block.removeExpectation()
        head.mayExpectContinue = false
        if head.bytes.starts(with: "HTTP/1".utf8) { easy.set(CCURLOPT_FORBID_REUSE, 1) }
        // Otherwise the callback before the send does this.
        if !CurlRuntime.asksBeforeSending { isBodyUsedUp = transfer.upload?.rewind() == false }
        resumeUpload(of: transfer)
    }

    /// Resumes a paused body after the head of a response.
    ///
    /// After a status of 300 and more, libcurl sends nothing more of the body. But it waits for the source of a paused
    /// body, unless the transfer is resumed.
    private func resumeUpload(of transfer: CurlTransfer) {
        if transfer.upload != nil { turns.pause(transfer) }
    }

    func receive(body bytes: UnsafeRawBufferPointer) -> Int {
        guard let transfer else { return Self.abort }
        guard !bytes.isEmpty else { return 0 }
        nudge.countPiece()
        deliverHead(of: transfer)
        let isStreamed = transfer.request.delivery == .streamed
        if hasTurnShare, !turnShare.admits(bytes.count, isStreamed: isStreamed, in: turns.number) {
            turns.pause(transfer)
            return pauseReceiving()
        }
        if isShared, !admitsShared(bytes.count) {
            turns.delay(transfer, now: MonotonicTime.milliseconds)
            return pauseReceiving()
        }
        switch transfer.receive(bytes) {
        case .kept:
            openSockets.countDelivered(bytes.count)
            return bytes.count
        case .awaited:
            openSockets.countDelivered(bytes.count)
            deliveries.add(transfer)
            return bytes.count
        case .full: return pauseReceiving()
        case .refused: return Self.abort
        }
    }

    private func pauseReceiving() -> Int {
        recordPause(true)
        return CCURL_WRITEFUNC_PAUSE
    }

    /// Records that libcurl is about to pause or to resume the response.
    func recordPause(_ isPaused: Bool) {
        isReceivePaused = isPaused
        if CurlRuntime.readsWhilePaused, hasTurnShare, let connection { sockets.pauseReading(connection, isPaused) }
    }

    /// Whether the turn may receive a piece of a response over HTTP/2; always true for a response's first piece in a
    /// turn.
    private func admitsShared(_ count: Int) -> Bool {
        defer { lastPieceTurn = turns.number }
        let isSlow = turns.countShared(count, now: MonotonicTime.milliseconds)
        return !isSlow || count >= CurlSharedTurn.largePieceByteCount || lastPieceTurn != turns.number
    }

    /// Called after libcurl has read up to 100 times.
    func finishRound() {
        guard let transfer else { return }
        if isShared || mayHoldHeadBack {
            let now = MonotonicTime.milliseconds
            if nudge.finishRound(hasLength: isAnsweredInFull, isPaused: isReceivePaused, now: now) {
                turns.delay(transfer, now: now)
            }
        }
        guard hasTurnShare else { return }
        switch turnShare.finishRound(in: turns.number, now: MonotonicTime.milliseconds) {
        case .none: return
        case .untilNextTurn: turns.pause(transfer)
        case .delay: turns.delay(transfer, now: MonotonicTime.milliseconds)
        }
        recordPause(true)
        curl_easy_pause(easy.pointer, Int32(CCURL_PAUSE_RECV))
    }

    /// Whether libcurl may have a head over HTTP/2 that it does not read.
    private var mayHoldHeadBack: Bool {
        CurlRuntime.readsNothingWhileSendIsPaused && isSendPaused && !head.isComplete
            && connection.map { sockets.isSequential($0) != true } ?? false
    }

    func supply(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        switch transfer?.upload?.supply(buffer) {
        case .copied(let count):
            transfer?.reportSent()
            return count
        case .pause:
            isSendPaused = true
            return CCURL_READFUNC_PAUSE
        case .end:
            transfer?.note { $0.isSending = false }
            return 0
        case .fail, nil: return CCURL_READFUNC_ABORT
        }
    }

    /// Delivers a head that was held back because libcurl might have sent the request again.
    func deliverHead(of transfer: CurlTransfer) {
        guard head.isProvisional else { return }
        head.keepFinal()
        noteHead(of: transfer)
        // If the head is refused, so is the body, and the transfer fails when it ends.
        _ = transfer.receive(head: head.take(), isCoded: head.isEncoded)
    }
}

#endif
