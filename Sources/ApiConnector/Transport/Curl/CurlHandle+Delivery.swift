// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

// What libcurl delivers, and what it takes of a request's body.

extension CurlHandle {
    /// What a callback returns to end the transfer: fewer bytes than it was given.
    private static let abort = 0

    func receive(line: UnsafeRawBufferPointer) -> Int {
        guard let transfer else { return Self.abort }
        // Over TLS, the handshake decides. libcurl reports the stream of a request that it sends over HTTP/2.
        if isLogged { head.isHTTP1 = log.stream == nil }
        if head.isAtStart { headStart = MonotonicTime.nanoseconds }
        switch head.append(line) {
        case .proceed: break
        case .complete(isProvisional: true): break
        case .complete(isProvisional: false):
            noteHead(of: transfer)
            closeWatch = CurlCloseWatch.watch(easy, for: transfer, head: head.bytes)
            hasTurnShare = head.bytes.starts(with: "HTTP/1".utf8)
            isShared = !hasTurnShare
            if isShared { turns.recordSharing(of: transfer) }
            // RFC 9112, section 6.3: what follows such a body may be somebody's attempt to smuggle a response.
            if head.hasDoubtfulEnd { easy.set(CCURLOPT_FORBID_REUSE, 1) }
            guard transfer.receive(head: head.take(), isCoded: head.isEncoded) else { return Self.abort }
        case .refused(let reason):
            transfer.refuse(.malformedResponse, reason)
            return Self.abort
        }
        return line.count
    }

    func receive(body bytes: UnsafeRawBufferPointer) -> Int {
        guard let transfer else { return Self.abort }
        guard !bytes.isEmpty else { return 0 }
        deliverHead(of: transfer)
        let isStreamed = transfer.request.delivery == .streamed
        if hasTurnShare, !turnShare.admits(bytes.count, isStreamed: isStreamed, in: turns.number) {
            turns.pause(transfer)
            return CCURL_WRITEFUNC_PAUSE
        }
        if isShared, !admitsShared(bytes.count) {
            turns.delay(transfer, now: MonotonicTime.milliseconds)
            return CCURL_WRITEFUNC_PAUSE
        }
        switch transfer.receive(bytes) {
        case .kept: return bytes.count
        case .awaited:
            deliveries.add(transfer)
            return bytes.count
        case .full: return CCURL_WRITEFUNC_PAUSE
        case .refused: return Self.abort
        }
    }

    /// Whether a piece of a response over HTTP/2 is within what the turn may take; the first one of a response always is.
    private func admitsShared(_ count: Int) -> Bool {
        defer { lastPieceTurn = turns.number }
        let isSlow = turns.countShared(count, now: MonotonicTime.milliseconds)
        return !isSlow || count >= CurlSharedTurn.largePieceByteCount || lastPieceTurn != turns.number
    }

    /// libcurl has read up to 100 times.
    func finishRound() {
        guard hasTurnShare, let transfer else { return }
        switch turnShare.finishRound(in: turns.number, now: MonotonicTime.milliseconds) {
        case .none: return
        case .untilNextTurn: turns.pause(transfer)
        case .delay: turns.delay(transfer, now: MonotonicTime.milliseconds)
        }
        curl_easy_pause(easy.pointer, Int32(CCURL_PAUSE_RECV))
    }

    func supply(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        switch transfer?.upload?.supply(buffer) {
        case .copied(let count):
            transfer?.reportSent()
            return count
        case .pause: return CCURL_READFUNC_PAUSE
        case .end:
            transfer?.note { $0.isSending = false }
            return 0
        case .fail, nil: return CCURL_READFUNC_ABORT
        }
    }

    /// A head that was kept back, because libcurl might have sent the request again, is the final one after all.
    func deliverHead(of transfer: CurlTransfer) {
        guard head.isProvisional else { return }
        head.keepFinal()
        noteHead(of: transfer)
        // Where it is refused, so is the body, and the transfer fails at its end.
        _ = transfer.receive(head: head.take(), isCoded: head.isEncoded)
    }
}

#endif
