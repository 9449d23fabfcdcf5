// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

// Decides how often, and on which connections, a request is sent.

extension CurlHandle {
    /// Sets the callback that libcurl calls before each send.
    func setSendCallback(_ context: UnsafeMutableRawPointer) {
        guard CurlRuntime.asksBeforeSending else { return }
        easy.set(CCURLOPT_PREREQDATA, context)
        ccurl_easy_set_prereq_callback(easy.pointer, CCURLOPT_PREREQFUNCTION) {
            context,
            remoteAddress,
            localAddress,
            remotePort,
            localPort in
            guard let context else { return Int32(CCURL_PREREQFUNC_ABORT) }
            let handle = Unmanaged<CurlHandle>.fromOpaque(context).takeUnretainedValue()
            let connection = CurlConnectionName(
                localAddress: localAddress.map { String(cString: $0) } ?? "",
                localPort: UInt16(truncatingIfNeeded: localPort),
                remoteAddress: remoteAddress.map { String(cString: $0) } ?? "",
                remotePort: UInt16(truncatingIfNeeded: remotePort)
            )
            return Int32(handle.maySend(on: connection) ? CCURL_PREREQFUNC_OK : CCURL_PREREQFUNC_ABORT)
        }
    }

    /// Whether libcurl may send the request on this connection.
    private func maySend(on connection: CurlConnectionName) -> Bool {
        guard let transfer else { return false }
        var question = repetition(of: transfer)
        if question.isAnswered, !beginSendWithoutExpectation(of: transfer) { return false }
        question.isReused = openedSockets.isEmpty
        if question.isReused {
            question.hasUnsolicitedInput = sockets.hasUnsolicitedInput(connection)
            question.hasOtherVersion = usesHTTP1 && sockets.isSequential(connection) == false
            question.isUnusableWhenReused = mustSwitchRoutes
        } else {
            sockets.add(openedSockets, connection, isSequential: isSequential(transfer))
            openSockets.forget(connection)
            openedSockets = []
        }
        // A server that refuses the client's certificate also closes the connection. The request is then sent, so that
        // libcurl reads the reason.
        question.hasEnded = certificateWatch?.isAsking != true && sockets.hasEnded(connection) == true
        question.requiresHTTP1 = !usesHTTP1 && !log.isDowngraded && requiresHTTP1(transfer)
        sendCount += 1
        guard send.ask(question) == .send else {
            // Otherwise, libcurl keeps an HTTP/2 connection that has ended, and offers it to each request.
            if question.hasEnded { easy.set(CCURLOPT_FORBID_REUSE, 1) }
            return false
        }
        // Some versions, such as 8.12, also send a body again that they could not rewind: the rest of it, or nothing.
        if question.wasSent, !question.isAnswered, transfer.upload?.rewind() == false {
            isBodyUsedUp = true
            return false
        }
        self.connection = connection
        isConnectionNew = !question.isReused
        transfer.note { $0.beginSending(hasBody: transfer.upload != nil, at: MonotonicTime.nanoseconds) }
        log = CurlStreamLog()
        progress.send(in: turns.callNumber)
        if transfer.inlineBody?.isEmpty == false { sockets.cork(connection) }
        return true
    }

    /// Records the send of a request over a libcurl that does not ask before it.
    ///
    /// Called when libcurl reports progress or has a response, which is at least once after a send.
    func recordUnaskedSend() {
        guard !CurlRuntime.asksBeforeSending, connection == nil, let transfer,
            easy.byteCount(CCURLINFO_PRETRANSFER_TIME_T) ?? 0 > 0
        else { return }
        let connection = CurlConnectionName(ofTransfer: easy)
        self.connection = connection
        isConnectionNew = !openedSockets.isEmpty
        if isConnectionNew {
            sockets.add(openedSockets, connection, isSequential: true)
            openSockets.forget(connection)
            openedSockets = []
        }
        transfer.note { $0.beginSending(hasBody: transfer.upload != nil, at: MonotonicTime.nanoseconds) }
    }

    /// Forgets a 417, so that a further send counts as a repetition.
    ///
    /// If libcurl 7.88 has sent a part of the body before the 417, it does not start at the first byte again.
    ///
    /// - Returns: False if a part of the body was sent, and cannot be read again.
    private func beginSendWithoutExpectation(of transfer: CurlTransfer) -> Bool {
        head.reset(mayExpectContinue: false, isHTTP1: head.isHTTP1)
        easy.set(CCURLOPT_FORBID_REUSE, 0)
        isBodyUsedUp = transfer.upload?.rewind() == false
        return !isBodyUsedUp
    }

    /// Whether libcurl may open a socket for the transfer.
    func mayConnect() -> Bool {
        guard let transfer else { return false }
        return send.mayConnect(repetition(of: transfer))
    }

    /// The known facts about earlier sends.
    private func repetition(of transfer: CurlTransfer) -> CurlSendState.Question {
        var question = CurlSendState.Question()
        guard sendCount > 0 else { return question }
        question.wasSent = wasSent
        question.isAnswered = head.isProvisional
        // libcurl also sends a request again if the server requires HTTP/1.1 after a part of the response.
        question.isRepeatable = transfer.request.isRepeatable && !head.isComplete && !hasBrokenRules
        question.isProvenUnprocessed = question.wasSent && isUnprocessed
        return question
    }

    /// Whether the origin of a transfer that may use HTTP/2 over TLS has required HTTP/1.1.
    func requiresHTTP1(_ transfer: CurlTransfer) -> Bool {
        configuration.httpVersion == .automatic && transfer.block.isSecure
            && sockets.requiredVersion(for: transfer.request.url) == .http1
    }

    /// Whether a transfer's new connection is known to carry one request at a time.
    func isSequential(_ transfer: CurlTransfer) -> Bool {
        if usesHTTP1 { return true }
        return switch configuration.httpVersion {
        case .http1: true
        case .http2PriorKnowledge: false
        case .automatic: !transfer.block.isSecure || offersOnlyHTTP1(transfer)
        }
    }

    /// Whether a transfer over TLS offers only HTTP/1.1 because its response is streamed.
    func offersOnlyHTTP1(_ transfer: CurlTransfer) -> Bool {
        configuration.httpVersion == .automatic && transfer.request.delivery == .streamed
            && !configuration.streamsOverHTTP2
            && sockets.requiredVersion(for: transfer.request.url) != .http2
    }

    /// Whether the server has refused a stream in the TLS handshake because it has no HTTP/1.1 (RFC 7301, section 3.2).
    private func isRefusedForHTTP1(_ code: Int32, _ transfer: CurlTransfer) -> Bool {
        guard code == 35, offersOnlyHTTP1(transfer) else { return false }
        let words = String(cString: errorText)
        return CurlLogTexts.noProtocol.contains { words.contains($0) }
    }

    /// Records whether the connection of an ended transfer carries one request at a time.
    func recordVersion(of transfer: CurlTransfer) {
        guard configuration.httpVersion == .automatic, transfer.block.isSecure, let connection else { return }
        var version = 0
        ccurl_easy_get_long(easy.pointer, CCURLINFO_HTTP_VERSION, &version)
        if version == CCURL_HTTP_VERSION_1_0 || version == CCURL_HTTP_VERSION_1_1 {
            sockets.markSequential(connection)
        }
    }

    /// How much of the request was sent; never less than the actual amount.
    var bytesSent: ApiConnectorError.SentBytes {
        guard transfer != nil, !hasSentBefore else { return .all }
        guard wasSent else { return .nothing }
        return sendCount < 2 && isBodyIncomplete ? .some : .all
    }

    /// Whether libcurl has sent the whole body of the request; false if that is not known.
    var isBodySent: Bool {
        guard let transfer else { return false }
        let hasUnknownLength = transfer.upload != nil && transfer.upload?.byteCount == nil
        return !hasUnknownLength && !isBodyIncomplete
    }

    /// Whether libcurl has sent less than the body's known length; false for an unknown length.
    private var isBodyIncomplete: Bool {
        guard let byteCount = transfer?.inlineBody?.count ?? transfer?.upload?.byteCount else { return false }
        return (easy.byteCount(CCURLINFO_SIZE_UPLOAD_T) ?? 0) < byteCount
    }

    /// Whether a part of the request was passed to a connection since the transfer was added.
    ///
    /// libcurl counts the bytes that it has written. Over HTTP/2, it may buffer a head that the socket does not accept
    /// yet, and does not count it.
    var wasSent: Bool {
        var count = 0
        ccurl_easy_get_long(easy.pointer, CCURLINFO_REQUEST_SIZE, &count)
        return count > 0 || (log.stream != nil && !log.isUnsent)
    }

    /// Prepares the first send of a transfer.
    func prepareSend(of transfer: CurlTransfer) {
        send = CurlSendState(route: mustSwitchRoutes ? .open : .any)
        openedSockets = []
        sendCount = 0
        preparationCount = 0
        connection = nil
        log = CurlStreamLog()
        hasSentBefore = false
        isBodyUsedUp = false
        // Without the question, libcurl by itself repeats a request on a reused connection.
        let mustNotRepeat = !CurlRuntime.asksBeforeSending && !transfer.request.isRepeatable
        take(mustNotRepeat ? .fresh : send.route)
        if requiresHTTP1(transfer) { useHTTP1() }
    }

    /// Whether HTTP/2 with prior knowledge cannot reuse a connection.
    ///
    /// On a reused connection, libcurl 7.88 sets up HTTP/2 a second time, which breaks the connection. A transfer that
    /// requests "HTTP/2 over TLS" reuses an open HTTP/2 connection without this fault.
    private var mustSwitchRoutes: Bool {
        configuration.httpVersion == .http2PriorKnowledge && CurlRuntime.breaksPriorKnowledge
    }

    private func take(_ route: CurlSendState.Route) {
        guard route != self.route else { return }
        self.route = route
        easy.set(CCURLOPT_FRESH_CONNECT, route == .fresh || route == .http1 ? 1 : 0)
        if route == .http1 { useHTTP1() }
        guard mustSwitchRoutes else { return }
        easy.set(
            CCURLOPT_HTTP_VERSION,
            route == .open ? CCURL_HTTP_VERSION_2TLS : CCURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
        )
    }

    /// Whether a failed transfer should be added again; if so, this function prepares it.
    ///
    /// - Parameter code: libcurl's code, not 0.
    func prepareAgain(after code: Int32) -> Bool {
        guard let transfer, !transfer.isOver, !head.isProvisional, !hasBrokenRules, !isAnsweredEarly(code)
        else { return false }
        guard !head.isComplete || mayForgetResponse(of: transfer) else { return false }
        var failure = CurlSendState.Failure()
        failure.isLostConnection = isLostConnection(code)
        failure.wasSent = wasSent
        failure.isProvenUnprocessed = !head.isComplete && isUnprocessed
        failure.isRepeatable = transfer.request.isRepeatable
        failure.requiresHTTP1 = requiresHTTP1(transfer)
        let isForHTTP2 = isRefusedForHTTP1(code, transfer)
        guard isForHTTP2 || send.retry(failure), transfer.restart() else { return false }
        easy.set(CCURLOPT_FORBID_REUSE, 0)
        recordPause(false)
        isSendPaused = false
        nudge = CurlNudge()
        if isForHTTP2 {
            sockets.require(.http2, for: transfer.request.url)
            prepareStream(of: transfer)
            head.isHTTP1 = false
        }
        if failure.wasSent {
            hasSentBefore = true
            if let upload = transfer.upload, !upload.rewind() {
                isBodyUsedUp = true
                return false
            }
        }
        openedSockets = []
        sendCount = 0
        preparationCount = 0
        connection = nil
        isConnectionNew = false
        headTurn = -1
        transfer.note { $0.restart() }
        log = CurlStreamLog()
        certificateWatch = nil
        errorText.pointee = 0
        head.reset(mayExpectContinue: head.mayExpectContinue, isHTTP1: head.isHTTP1)
        take(send.route)
        return true
    }

    /// Whether a request may be sent again although its response has begun.
    ///
    /// If libcurl cannot write to an HTTP/2 connection, it also stops reading from it, so another request on the
    /// connection can lose a response that has already arrived. A new response can replace a collected response,
    /// because the caller has not received any part of it yet.
    private func mayForgetResponse(of transfer: CurlTransfer) -> Bool {
        log.stream != nil && transfer.upload == nil && transfer.inlineBody == nil
    }

    /// Whether a code only means that the server has sent a whole response and then refused the rest of the request's
    /// body (RFC 9113, section 8.1).
    ///
    /// libcurl 7.88 reports this as an error without a text, and has not compared the length of the body.
    func isAnsweredEarly(_ code: Int32) -> Bool {
        guard code == 92, log.isClosed, errorText.pointee == 0, !isReceivePaused else { return false }
        let byteCount = easy.byteCount(CCURLINFO_SIZE_DOWNLOAD_T) ?? 0
        // libcurl drops the body of a 417 after which it would send the request again.
        guard head.isComplete || (head.isProvisional && byteCount == 0) else { return false }
        return announcedByteCount.map { $0 == byteCount } ?? true
    }

    /// Whether the response over HTTP/2 has its announced length, and libcurl still sends the request's body.
    ///
    /// libcurl then reads neither RST_STREAM nor WINDOW_UPDATE. A body whose source has no bytes now is not judged.
    var isAnsweredInFull: Bool {
        guard CurlRuntime.stopsReadingAtLength, isShared, !isBodySent, !isReceivePaused, head.isComplete,
            transfer?.upload?.isStarved != true, let announcedByteCount, announcedByteCount > 0
        else { return false }
        return announcedByteCount == easy.byteCount(CCURLINFO_SIZE_DOWNLOAD_T)
    }

    /// Whether a code means that a connection was lost during the request, and not because of a missing client
    /// certificate.
    private func isLostConnection(_ code: Int32) -> Bool {
        let kind = kind(of: code)
        guard certificateWatch?.isAsking != true, kind != .malformedResponse else { return false }
        switch code {
        case 16: return true
        // Over HTTP/1, libcurl has already tried again if the connection was reused. If a server closes a new
        // connection, it has a reason, such as a body that is too large.
        case 55: return log.stream != nil || !wasSent
        // Over HTTP/1, the body was truncated (18), or libcurl has already tried again (52 and 56).
        case 18, 52: return log.stream != nil
        case 56: return log.stream != nil && kind == .connectionLost
        // libcurl 7.88 loses a response that arrives before it has sent the body, and then reports no text.
        case 92: return log.stream != nil && errorText.pointee == 0
        default: return false
        }
    }

    /// The error of a request that libcurl was not allowed to send again.
    func refusedRepetition(of transfer: CurlTransfer) -> ApiConnectorError? {
        if isBodyUsedUp {
            return ApiConnectorError(
                .notReplayable,
                "after a lost connection or a 417, the request must be sent again, but its body cannot be read a "
                    + "second time",
                request: transfer.request
            )
        }
        guard send.step == .refuse else { return nil }
        let reason =
            transfer.request.isRepeatable
            ? "the request was sent again already" : "\(transfer.request.method) is not sent twice"
        if log.isDowngraded {
            let obstacle =
                head.isComplete
                ? ", but its response has already begun, so the request is not sent again"
                : "; it may have processed the request, and \(reason)"
            var error = ApiConnectorError(
                .other,
                "the server requires HTTP/1.1 for this request (HTTP_1_1_REQUIRED)\(obstacle)",
                request: transfer.request
            )
            .advising(
                "Set CurlConfiguration.httpVersion to .http1. The provider's next requests to this server use HTTP/1.1."
            )
            error.isPermanent = true
            return error
        }
        let end =
            if head.isComplete {
                "during the response"
            } else {
                "after the request was sent and before a response came; the server may have processed the request, and "
                    + reason
            }
        return ApiConnectorError(
            .connectionLost,
            "the connection ended \(end)",
            request: transfer.request
        )
    }
}

#endif
