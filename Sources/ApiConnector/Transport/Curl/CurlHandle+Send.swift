// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

// How often, and on which connection, a request is sent.

extension CurlHandle {
    /// Has libcurl ask before each send.
    func setSendCallback(_ context: UnsafeMutableRawPointer) {
        guard CurlRuntime.asksBeforeSending else { return }
        easy.set(CCURLOPT_PREREQDATA, context)
        ccurl_easy_set_prereq_callback(easy.pointer, CCURLOPT_PREREQFUNCTION) { context, _, _, _, localPort in
            guard let context else { return Int32(CCURL_PREREQFUNC_ABORT) }
            let handle = Unmanaged<CurlHandle>.fromOpaque(context).takeUnretainedValue()
            let maySend = handle.maySend(localPort: UInt16(truncatingIfNeeded: localPort))
            return Int32(maySend ? CCURL_PREREQFUNC_OK : CCURL_PREREQFUNC_ABORT)
        }
    }

    /// Whether libcurl may send the request on the connection with this port.
    private func maySend(localPort: UInt16) -> Bool {
        guard let transfer else { return false }
        var question = repetition(of: transfer)
        question.isReused = openedSockets.isEmpty
        if question.isReused {
            question.hasUnsolicitedInput = sockets.hasUnsolicitedInput(port: localPort)
            question.isUnusableWhenReused = mustSwitchRoutes
        } else {
            sockets.add(openedSockets, port: localPort, isSequential: isSequential(transfer))
            openedSockets = []
        }
        self.localPort = localPort
        sendCount += 1
        return send.ask(question) == .send
    }

    /// Whether libcurl may open a socket for the transfer.
    func mayConnect() -> Bool {
        guard let transfer else { return false }
        return send.mayConnect(repetition(of: transfer))
    }

    /// What is known of the sends before.
    private func repetition(of transfer: CurlTransfer) -> CurlSendState.Question {
        var question = CurlSendState.Question()
        guard sendCount > 0 else { return question }
        question.wasSent = wasSent
        question.isAnswered = head.isProvisional
        question.isRepeatable = transfer.request.isRepeatable
        question.isProvenUnprocessed = question.wasSent && isRefusedStream
        return question
    }

    /// Whether the connection that a transfer makes is known to carry one request at a time.
    private func isSequential(_ transfer: CurlTransfer) -> Bool {
        let isStreamed = transfer.request.delivery == .streamed && !configuration.streamsOverHTTP2
        return switch configuration.httpVersion {
        case .http1: true
        case .http2PriorKnowledge: false
        case .automatic: isStreamed || !transfer.block.isSecure
        }
    }

    /// Records whether the connection of a transfer that has ended carries one request at a time.
    func recordVersion(of transfer: CurlTransfer) {
        guard configuration.httpVersion == .automatic, transfer.block.isSecure, localPort != 0 else { return }
        var version = 0
        ccurl_easy_get_long(easy.pointer, CCURLINFO_HTTP_VERSION, &version)
        if version == CCURL_HTTP_VERSION_1_1 { sockets.markSequential(port: localPort) }
    }

    /// How much of the request was sent; never less than it was.
    var bytesSent: ApiConnectorError.SentBytes {
        guard let transfer, !hasSentBefore else { return .all }
        guard wasSent else { return .nothing }
        guard sendCount < 2, let byteCount = transfer.inlineBody?.count ?? transfer.upload?.byteCount else {
            return .all
        }
        var sent: Int64 = 0
        ccurl_easy_get_offset(easy.pointer, CCURLINFO_SIZE_UPLOAD_T, &sent)
        return sent < byteCount ? .some : .all
    }

    /// Whether some of the request has been given to a connection since the transfer was added.
    ///
    /// libcurl counts what it has written, to a socket or to nghttp2's buffer, so that the answer is never too low.
    var wasSent: Bool {
        var count = 0
        ccurl_easy_get_long(easy.pointer, CCURLINFO_REQUEST_SIZE, &count)
        return count > 0
    }

    /// Whether the reason for libcurl's repetition is that the server refused the HTTP/2 stream: REFUSED_STREAM, or a
    /// GOAWAY whose last stream is an earlier one (RFC 9113, section 8.7).
    ///
    /// Before version 8.0, libcurl fails to read without a text for this reason only, and sets the time of the first
    /// byte after each read that has not failed.
    private var isRefusedStream: Bool {
        guard CurlRuntime.tellsRefusedStreams, errorText.pointee == 0 else { return false }
        var firstByteTime: Int64 = 0
        ccurl_easy_get_offset(easy.pointer, CCURLINFO_STARTTRANSFER_TIME_T, &firstByteTime)
        return firstByteTime == 0
    }

    /// Gets ready for the first send of a transfer.
    func prepareSend(of transfer: CurlTransfer) {
        send = CurlSendState(route: mustSwitchRoutes ? .open : .any)
        openedSockets = []
        sendCount = 0
        localPort = 0
        hasSentBefore = false
        let isFresh = !CurlRuntime.asksBeforeSending && !transfer.request.isRepeatable
        take(isFresh ? .fresh : send.route)
    }

    /// Whether HTTP/2 with prior knowledge cannot use a connection again.
    ///
    /// libcurl 7.88 sets HTTP/2 up a second time on such a connection, which breaks it. A transfer that asks for
    /// "HTTP/2 over TLS" takes an open HTTP/2 connection, and libcurl leaves that as it is.
    private var mustSwitchRoutes: Bool {
        configuration.httpVersion == .http2PriorKnowledge && CurlRuntime.breaksPriorKnowledge
    }

    private func take(_ route: CurlSendState.Route) {
        guard route != self.route else { return }
        self.route = route
        easy.set(CCURLOPT_FRESH_CONNECT, route == .fresh ? 1 : 0)
        guard mustSwitchRoutes else { return }
        easy.set(
            CCURLOPT_HTTP_VERSION,
            route == .open ? CCURL_HTTP_VERSION_2TLS : CCURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
        )
    }

    /// Whether a transfer that failed is to be added again; it is ready for that then.
    ///
    /// - Parameter code: Libcurl's code, not 0.
    func prepareAgain(after code: Int32) -> Bool {
        guard let transfer, !transfer.isOver, !head.isComplete, !head.isProvisional else { return false }
        let wasSent = wasSent
        let isToBeAdded = send.retry(
            isLostConnection: isLostConnection(code),
            wasSent: wasSent,
            isRepeatable: transfer.request.isRepeatable
        )
        guard isToBeAdded else { return false }
        if wasSent {
            hasSentBefore = true
            if let upload = transfer.upload, !upload.rewind() { return false }
        }
        openedSockets = []
        sendCount = 0
        certificateWatch = nil
        errorText.pointee = 0
        head.reset(mayExpectContinue: head.mayExpectContinue)
        take(send.route)
        return true
    }

    /// Whether a code says that a connection closed under the request, and not for want of a client certificate.
    private func isLostConnection(_ code: Int32) -> Bool {
        guard certificateWatch?.wasAsked != true else { return false }
        return code == 16 || code == 55
    }

    /// The error of a request that libcurl was not allowed to send again.
    func refusedRepetition(of transfer: CurlTransfer) -> ApiConnectorError? {
        guard send.step == .refuse else { return nil }
        let method = transfer.request.method
        return ApiConnectorError(
            .connectionLost,
            "the connection ended after the request was sent and before a response came; the server may have processed "
                + "the request, and \(method) is not sent twice",
            request: transfer.request
        )
    }
}

#endif
