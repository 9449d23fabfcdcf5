// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl
#endif

/// Decides whether a request may be sent; does not call libcurl itself.
///
/// libcurl calls a callback before each send of a transfer (`CURLOPT_PREREQFUNCTION`). The first send requires a
/// connection on which nothing has arrived. Each later send repeats the request. RFC 9110, section 9.2.2, allows this
/// only for idempotent methods and for requests that the server has not processed.
struct CurlSendState {
    /// The connections that a transfer may use.
    enum Route {
        case any
        /// A new connection.
        case fresh
        /// An open connection.
        case open
        /// A new connection, over HTTP/1.1.
        case http1
    }

    enum Step: Equatable {
        case send
        /// Nothing was sent this time; the loop adds the transfer again.
        case again(Route)
        /// The request was sent and may have been processed.
        case refuse
    }

    /// The known facts before a send.
    struct Question {
        /// Whether the connection was used before, or is shared.
        var isReused = false
        /// Whether the server requires HTTP/1.1, and libcurl would use HTTP/2.
        var requiresHTTP1 = false
        /// Whether bytes arrived on the connection while it was idle.
        var hasUnsolicitedInput = false
        /// Whether the connection uses HTTP/2, and the server requires HTTP/1.1; libcurl 8.12 does not compare them.
        var hasOtherVersion = false
        /// Whether the server has closed the connection, for a connection that may use HTTP/2.
        var hasEnded = false
        /// Whether this libcurl cannot reuse the connection in the way that the transfer requests.
        var isUnusableWhenReused = false
        /// Whether a part of the request was sent before.
        var wasSent = false
        /// Whether a response of the server caused the repetition.
        var isAnswered = false
        /// Whether the server has reported that it did not process the request.
        var isProvenUnprocessed = false
        /// Whether repeating the request has the same effect as sending it once.
        var isRepeatable = false

        /// Whether the send repeats a failed send.
        fileprivate var isRepetition: Bool { wasSent && !isAnswered }
    }

    /// The known facts after a transfer has failed.
    struct Failure {
        /// Whether the error can be caused by a closing connection.
        var isLostConnection = false
        /// Whether a part of the request was sent.
        var wasSent = false
        /// Whether the server has reported that it did not process the request.
        var isProvenUnprocessed = false
        /// Whether repeating the request has the same effect as sending it once.
        var isRepeatable = false
        /// Whether the server requires HTTP/1.1.
        var requiresHTTP1 = false
    }

    /// The maximum number of times that a transfer is added again.
    static let maximumAgainCount = 5

    /// The maximum number of repetitions of a request that the server may have processed.
    static let maximumRepetitionCount = 1

    /// The maximum number of repetitions of a request that the server has not processed.
    static let maximumRefusalCount = 1

    /// The connections that the next send may use.
    private(set) var route = Route.any
    /// The connections that libcurl may use now, as set by an option.
    private(set) var appliedRoute = Route.any
    private(set) var step = Step.send
    /// How often libcurl has asked before a send since the transfer was added.
    private(set) var sendCount = 0
    /// Whether a part of the request was sent before the transfer was added again.
    private(set) var hasSentBefore = false
    /// Whether the request should have been sent again, but its body could not be read again.
    private(set) var isBodyUsedUp = false
    private var againCount = 0
    private var repetitionCount = 0
    private var refusalCount = 0
    /// Whether a connection had ended when the request was about to be sent.
    ///
    /// If a server closes each connection immediately, the request is sent on the second connection.
    private var hasReplacedConnection = false

    /// Starts with the first connection of a transfer.
    init(route: Route = .any) {
        self.route = route
    }

    /// Decides whether libcurl may send the request.
    mutating func ask(_ question: Question) -> Step {
        sendCount += 1
        step = answer(question)
        return step
    }

    private mutating func answer(_ question: Question) -> Step {
        if question.isRepetition {
            guard countRepetition(question.isProvenUnprocessed, question.isRepeatable) else { return .refuse }
            if question.isReused, !question.requiresHTTP1 { return .again(.fresh) }
        }
        if question.requiresHTTP1, route != .http1 { return .again(.http1) }
        if question.hasEnded, question.isReused || !hasReplacedConnection {
            hasReplacedConnection = true
            return .again(.fresh)
        }
        guard question.isReused else { return .send }
        if question.hasUnsolicitedInput || question.hasOtherVersion { return .again(.fresh) }
        return question.isUnusableWhenReused && route == .any ? .again(.open) : .send
    }

    /// Counts a repetition; returns false if it is not allowed.
    private mutating func countRepetition(_ isProvenUnprocessed: Bool, _ isRepeatable: Bool) -> Bool {
        if isProvenUnprocessed, refusalCount < Self.maximumRefusalCount {
            refusalCount += 1
            return true
        }
        guard isRepeatable, repetitionCount < Self.maximumRepetitionCount else { return false }
        repetitionCount += 1
        return true
    }

    /// Decides whether libcurl may connect; false if the transfer should use an open connection.
    mutating func mayConnect(_ question: Question) -> Bool {
        guard route == .open else { return true }
        // libcurl calls this for each address.
        guard step == .send else { return false }
        guard question.isRepetition else {
            step = .again(.any)
            return false
        }
        let mayRepeat = countRepetition(question.isProvenUnprocessed, question.isRepeatable)
        step = mayRepeat ? .again(.fresh) : .refuse
        return false
    }

    /// Decides whether a failed transfer is added again; its caller has not received any part of the response.
    ///
    /// - Returns: Whether the loop should add the transfer again, with ``route``.
    mutating func retry(_ failure: Failure) -> Bool {
        guard againCount < Self.maximumAgainCount else { return false }
        switch step {
        case .again(let route):
            // The routes `any` and `open` may keep alternating; a new connection ends that.
            self.route = route == .http1 || againCount + 1 < Self.maximumAgainCount ? route : .fresh
        case .refuse: return false
        case .send:
            let isUnprocessed = failure.isProvenUnprocessed || (failure.isLostConnection && !failure.wasSent)
            guard isUnprocessed || failure.isLostConnection, countRepetition(isUnprocessed, failure.isRepeatable) else {
                return false
            }
            route = failure.requiresHTTP1 ? .http1 : .fresh
        }
        againCount += 1
        step = .send
        return true
    }

    /// Records that the transfer is added again.
    ///
    /// - Parameter wasSent: Whether a part of the request was sent.
    mutating func restart(wasSent: Bool) {
        sendCount = 0
        if wasSent { hasSentBefore = true }
    }

    /// Records the connections that libcurl may use.
    ///
    /// - Returns: Whether they change.
    mutating func apply(_ route: Route) -> Bool {
        defer { appliedRoute = route }
        return route != appliedRoute
    }

    /// Records whether the body can be read again from its start.
    ///
    /// - Returns: Whether it can.
    mutating func recordRewind(_ hasSucceeded: Bool) -> Bool {
        isBodyUsedUp = !hasSucceeded
        return hasSucceeded
    }
}

#if Curl && os(Linux)
// MARK: Calls of libcurl

extension CurlHandle {
    /// Prepares the first send of a transfer.
    func prepareSend(of transfer: CurlTransfer) {
        sending = CurlSendState(route: mustSwitchRoutes ? .open : .any)
        // Without the question, libcurl by itself repeats a request on a reused connection.
        let mustNotRepeat = !CurlRuntime.asksBeforeSending && !transfer.request.isRepeatable
        take(mustNotRepeat ? .fresh : sending.route)
        if requiresHTTP1(transfer) { useHTTP1() }
    }

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
            let connection = CurlConnectionName(
                localAddress: localAddress.map { String(cString: $0) } ?? "",
                localPort: UInt16(truncatingIfNeeded: localPort),
                remoteAddress: remoteAddress.map { String(cString: $0) } ?? "",
                remotePort: UInt16(truncatingIfNeeded: remotePort)
            )
            let maySend = CurlHandle.from(context).maySend(on: connection)
            return Int32(maySend ? CCURL_PREREQFUNC_OK : CCURL_PREREQFUNC_ABORT)
        }
    }

    /// Whether libcurl may send the request on this connection.
    private func maySend(on connection: CurlConnectionName) -> Bool {
        guard let transfer else { return false }
        var question = repetition(of: transfer)
        if question.isAnswered, !beginSendWithoutExpectation(of: transfer) { return false }
        question.isReused = connecting.isReused
        if question.isReused {
            question.hasUnsolicitedInput = sockets.hasUnsolicitedInput(connection)
            question.hasOtherVersion = connecting.usesHTTP1 && sockets.isSequential(connection) == false
            question.isUnusableWhenReused = mustSwitchRoutes
        } else {
            recordNewConnection(connection, isSequential: isSequential(transfer))
        }
        // A server that refuses the client's certificate also closes the connection. The request is then sent, so that
        // libcurl reads the reason.
        question.hasEnded = !tls.isAskingForCertificate && sockets.hasEnded(connection) == true
        question.requiresHTTP1 = !connecting.usesHTTP1 && !log.isDowngraded && requiresHTTP1(transfer)
        guard sending.ask(question) == .send else {
            // Otherwise, libcurl keeps an HTTP/2 connection that has ended, and offers it to each request.
            if question.hasEnded { easy.set(CCURLOPT_FORBID_REUSE, 1) }
            return false
        }
        // Some versions, such as 8.12, also send a body again that they could not rewind: the rest of it, or nothing.
        if question.wasSent, !question.isAnswered, !sending.recordRewind(transfer.upload?.rewind() != false) {
            return false
        }
        connecting.use(connection, isNew: !question.isReused)
        transfer.note { $0.beginSending(hasBody: transfer.upload != nil, at: MonotonicTime.nanoseconds) }
        log.beginSend(in: turns.callNumber)
        if transfer.inlineBody?.isEmpty == false { sockets.cork(connection) }
        return true
    }

    /// Records the send of a request over a libcurl that does not ask before it.
    ///
    /// Called when libcurl reports progress or has a response, which is at least once after a send.
    func recordUnaskedSend() {
        guard !CurlRuntime.asksBeforeSending, connecting.connection == nil, let transfer,
            easy.byteCount(CCURLINFO_PRETRANSFER_TIME_T) ?? 0 > 0
        else { return }
        let connection = CurlConnectionName(ofTransfer: easy)
        let isNew = !connecting.isReused
        if isNew { recordNewConnection(connection, isSequential: true) }
        connecting.use(connection, isNew: isNew)
        transfer.note { $0.beginSending(hasBody: transfer.upload != nil, at: MonotonicTime.nanoseconds) }
    }

    /// Whether libcurl may open a socket for the transfer.
    func mayConnect(_ transfer: CurlTransfer) -> Bool {
        sending.mayConnect(repetition(of: transfer))
    }

    /// The known facts about earlier sends.
    private func repetition(of transfer: CurlTransfer) -> CurlSendState.Question {
        var question = CurlSendState.Question()
        guard sending.sendCount > 0 else { return question }
        question.wasSent = wasSent
        question.isAnswered = head.isProvisional
        // libcurl also sends a request again if the server requires HTTP/1.1 after a part of the response.
        question.isRepeatable = transfer.request.isRepeatable && !head.isComplete && !hasBrokenRules
        question.isProvenUnprocessed = question.wasSent && isUnprocessed
        return question
    }

    /// Whether HTTP/2 with prior knowledge cannot reuse a connection.
    ///
    /// On a reused connection, libcurl 7.88 sets up HTTP/2 a second time, which breaks the connection. A transfer that
    /// requests "HTTP/2 over TLS" reuses an open HTTP/2 connection without this fault.
    private var mustSwitchRoutes: Bool {
        configuration.httpVersion == .http2PriorKnowledge && CurlRuntime.breaksPriorKnowledge
    }

    private func take(_ route: CurlSendState.Route) {
        guard sending.apply(route) else { return }
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
        guard isForHTTP2 || sending.retry(failure), transfer.restart() else { return false }
        easy.set(CCURLOPT_FORBID_REUSE, 0)
        restartFlow()
        if isForHTTP2 {
            sockets.require(.http2, for: transfer.request.url)
            prepareStream(of: transfer)
        }
        sending.restart(wasSent: failure.wasSent)
        if failure.wasSent, !sending.recordRewind(transfer.upload?.rewind() != false) { return false }
        transfer.note { $0.restart() }
        restart(offersHTTP2: isForHTTP2)
        take(sending.route)
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

    /// Whether a code means that a connection was lost during the request, and not because of a missing client
    /// certificate.
    private func isLostConnection(_ code: Int32) -> Bool {
        let kind = kind(of: code)
        guard !tls.isAskingForCertificate, kind != .malformedResponse else { return false }
        switch code {
        case 16: return true
        // Over HTTP/1, libcurl has already tried again if the connection was reused. If a server closes a new
        // connection, it has a reason, such as a body that is too large.
        case 55: return log.stream != nil || !wasSent
        // Over HTTP/1, the body was truncated (18), or libcurl has already tried again (52 and 56).
        case 18, 52: return log.stream != nil
        case 56: return log.stream != nil && kind == .connectionLost
        // libcurl 7.88 loses a response that arrives before it has sent the body, and then reports no text.
        case 92: return log.stream != nil && hasNoErrorWords
        default: return false
        }
    }

    /// Whether a code only means that the server has sent a whole response and then refused the rest of the request's
    /// body (RFC 9113, section 8.1).
    ///
    /// libcurl 7.88 reports this as an error without a text, and has not compared the length of the body.
    func isAnsweredEarly(_ code: Int32) -> Bool {
        guard code == 92, log.isClosed, hasNoErrorWords, !flow.isReceivePaused else { return false }
        let byteCount = easy.byteCount(CCURLINFO_SIZE_DOWNLOAD_T) ?? 0
        // libcurl drops the body of a 417 after which it would send the request again.
        guard head.isComplete || (head.isProvisional && byteCount == 0) else { return false }
        return announcedByteCount.map { $0 == byteCount } ?? true
    }

    // MARK: What was sent

    /// How much of the request was sent; never less than the actual amount.
    var bytesSent: ApiConnectorError.SentBytes {
        guard transfer != nil, !sending.hasSentBefore else { return .all }
        guard wasSent else { return .nothing }
        return sending.sendCount < 2 && isBodyIncomplete ? .some : .all
    }

    /// Whether a part of the request was passed to a connection since the transfer was added.
    ///
    /// libcurl counts the bytes that it has written. Over HTTP/2, it may buffer a head that the socket does not accept
    /// yet, and does not count it.
    private var wasSent: Bool {
        var count = 0
        ccurl_easy_get_long(easy.pointer, CCURLINFO_REQUEST_SIZE, &count)
        return count > 0 || (log.stream != nil && !log.isUnsent)
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
}

#endif
