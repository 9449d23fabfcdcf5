// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

/// An easy handle of libcurl for one transfer; used only in a turn of the loop.
///
/// It is not reused, for these reasons:
///
/// - Up to 8.1, if the first field of a response is folded, libcurl writes through a pointer to the last field of the
///   handle's previous transfer, which is freed. Such a response crashed the process.
/// - A handle keeps all fields of its last response.
/// - A handle never sends `Expect` again after a 417.
///
/// A new handle costs less than 1 µs.
final class CurlHandle {
    let easy: CurlEasy
    let configuration: CurlConfiguration
    private let share: OpaquePointer
    let deliveries: CurlDeliveries
    let turns: CurlTurns
    var turnShare = CurlTurnShare()
    /// Whether the response uses HTTP/1, so that it has a share of each turn.
    var hasTurnShare = false
    /// Whether libcurl's log reports the HTTP/2 stream of the request.
    private(set) var isLogged = false
    /// Whether the response uses HTTP/2, so that it shares its connection.
    var isShared = false
    /// Whether libcurl has paused receiving.
    var isReceivePaused = false
    /// Whether libcurl has paused the request's body, because its source has no bytes yet.
    var isSendPaused = false
    var nudge = CurlNudge()
    /// Whether the transfer was last resumed to look again.
    private var isLooking = false
    /// The last turn that received a piece of the body.
    var lastPieceTurn = -1
    let sockets: CurlSockets
    let openSockets: CurlOpenSockets
    let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: CCURL_ERROR_SIZE)

    /// The current transfer; set while the handle is added to libcurl.
    var transfer: CurlTransfer?
    /// Whether a resolver's thread is looking up a name.
    var isResolving = false
    /// The error number of the last attempt to open a socket; 0 if it succeeded.
    var socketError: Int32 = 0
    var head = CurlHeadBuffer()
    var send = CurlSendState()
    /// The connections that libcurl may use now, as set by an option.
    var route = CurlSendState.Route.any
    /// Whether the server requires HTTP/1.1, so that libcurl uses it.
    private(set) var usesHTTP1 = false
    /// How often libcurl has called the send callback since the transfer was added.
    var sendCount = 0
    /// How often libcurl has reported progress before the first send.
    var preparationCount = 0
    /// Whether a part of the request was sent before the transfer was added again.
    var hasSentBefore = false
    /// Whether the request should have been sent again, but its body could not be read again.
    var isBodyUsedUp = false
    /// The sockets that were opened for this transfer.
    var openedSockets: [Int32] = []
    /// The connection of the last send; nil before the first send, and after libcurl has left the connection.
    var connection: CurlConnectionName?
    /// libcurl's log about the last send.
    var log = CurlStreamLog()
    var progress = CurlProgressCount()
    /// When the first line of the last head arrived, in nanoseconds.
    var headStart: Int64 = 0
    /// The turn of ``headStart``.
    var headTurn = -1
    /// Whether the connection was opened for this transfer.
    var isConnectionNew = false
    /// Set during a response over TLS whose body ends when the connection closes.
    var closeWatch: CurlCloseWatch?
    /// Set when libcurl opens a TLS connection for this transfer.
    var certificateWatch: CurlCertificateWatch?

    init?(
        _ configuration: CurlConfiguration,
        share: OpaquePointer,
        deliveries: CurlDeliveries,
        turns: CurlTurns,
        sockets: CurlSockets,
        openSockets: CurlOpenSockets
    ) {
        guard let pointer = curl_easy_init() else { return nil }
        easy = CurlEasy(pointer: pointer)
        self.configuration = configuration
        self.share = share
        self.deliveries = deliveries
        self.turns = turns
        self.sockets = sockets
        self.openSockets = openSockets
        errorText.initialize(to: 0)
        configure()
    }

    deinit {
        curl_easy_cleanup(easy.pointer)
        errorText.deallocate()
    }

    /// The handle that owns an easy handle of libcurl.
    static func of(_ easy: OpaquePointer) -> CurlHandle? {
        var context: UnsafeMutableRawPointer?
        ccurl_easy_get_pointer(easy, CCURLINFO_PRIVATE, &context)
        return context.map { Unmanaged<CurlHandle>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Resumes after a pause.
    ///
    /// libcurl immediately delivers the data that it has buffered.
    ///
    /// - Returns: libcurl's code. If it is not 0, the transfer has ended, and libcurl does not report it anywhere else.
    func resume() -> Int32 {
        recordPause(false)
        isSendPaused = false
        isLooking = nudge.isAwaited && nudge.begin(now: MonotonicTime.milliseconds)
        if isLooking { curl_easy_pause(easy.pointer, Int32(CCURL_PAUSE_SEND)) }
        return curl_easy_pause(easy.pointer, 0)
    }

    /// Whether the transfer that was just resumed has its whole response, and can send no more of the request's body.
    func isStuck() -> Bool {
        isLooking && isAnsweredInFull
            && nudge.hasStalled(
                easy.byteCount(CCURLINFO_SIZE_UPLOAD_T) ?? 0,
                isSending: connection.map { sockets.hasUnacknowledgedBytes($0) } ?? false,
                now: MonotonicTime.milliseconds
            )
    }

    /// Delivers the head of a transfer that has ended, if it is still held.
    ///
    /// - Returns: Why the transfer failed; nil for success.
    func finish(_ code: Int32) -> ApiConnectorError? {
        guard let transfer else { return nil }
        if code == 0 || isAnsweredEarly(code) {
            // A known length has been compared with the bytes that arrived. Where the log names a violation, the code of
            // a broken response is not 0.
            if log.outcome == .broken, announcedByteCount == nil { return brokenRules(of: transfer) }
            recordVersion(of: transfer)
            deliverHead(of: transfer)
            return closeWatch?.isNotified == false ? CurlCloseWatch.cut(transfer.request) : nil
        }
        if let failure = transfer.upload?.failure { return failure.completed(request: transfer.request) }
        if let failure = brokenRules(of: transfer) ?? refusedRepetition(of: transfer) { return failure }
        let words = String(cString: errorText)
        if !head.isComplete, let error = proxyError(code, words, of: transfer) { return error }
        if code == 100, words.hasPrefix(CurlLogTexts.tooManyFields) {
            guard sendCount > 0 else {
                return ApiConnectorError(.cannotConnect, Self.tooManyTunnelFields, request: transfer.request)
            }
            return ApiConnectorError(.malformedResponse, CurlHeadBuffer.tooManyFields, request: transfer.request)
        }
        if code == 56, closeWatch?.isNotified == false, CurlLogTexts.unexpectedEnds.contains(where: words.contains) {
            return CurlCloseWatch.cut(transfer.request)
        }
        let error = TransferErrors.error(
            code,
            kind(of: code),
            words: words,
            general: String(cString: curl_easy_strerror(code)),
            request: transfer.request
        )
        return explain(error, code, words: words, hasHead: head.isComplete)
    }

    /// The kind of the error for a code of libcurl.
    func kind(of code: Int32) -> ApiConnectorError.Kind {
        var systemError = 0
        if code == 56 { ccurl_easy_get_long(easy.pointer, CCURLINFO_OS_ERRNO, &systemError) }
        return CurlRuntime.texts.kind(
            of: code,
            words: String(cString: errorText),
            hasHead: head.isComplete,
            isReset: systemError == Int(ECONNRESET)
        )
    }

    /// The length of the body according to the head; nil if the head names none.
    var announcedByteCount: Int64? {
        easy.byteCount(CCURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
    }

    /// Whether the transfer's connection was closed because libcurl did not return from it.
    var isShutDown: Bool { connection.map { openSockets.isShutDown($0) } ?? false }

    /// The error of a transfer that failed at its proxy; nil for any other failure, or without a proxy.
    private func proxyError(_ code: Int32, _ words: String, of transfer: CurlTransfer) -> ApiConnectorError? {
        guard let proxy = configuration.proxy.used(for: transfer.request.url) else { return nil }
        var status = 0
        ccurl_easy_get_long(easy.pointer, CCURLINFO_HTTP_CONNECTCODE, &status)
        return TransferErrors.proxyError(
            code,
            words: words,
            connectStatus: status,
            proxy: proxy,
            request: transfer.request
        )
    }
}

extension TransportConfiguration.Proxy {
    /// The proxy that an error names; nil for no proxy.
    func used(for url: URL) -> ProxySetting? {
        switch self {
        case .system: ProxySetting(for: url, environment: ProcessInfo.processInfo.environment)
        case .none: nil
        case .url(let url): ProxySetting(url.absoluteString, from: "the configuration's proxy setting")
        }
    }
}

// MARK: Options

extension CurlHandle {
    /// Sets the options that apply to every transfer.
    private func configure() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        easy.set(CCURLOPT_PRIVATE, context)
        easy.set(CCURLOPT_ERRORBUFFER, UnsafeMutableRawPointer(errorText))
        ccurl_easy_set_share(easy.pointer, CCURLOPT_SHARE, share)
        configuration.apply(to: easy)
        setCallbacks(context)
        setContextCallback(context)
        setSendCallback(context)
        setLogCallback(context)
        configuration.applyLifetime(to: easy)
    }

    private func setCallbacks(_ context: UnsafeMutableRawPointer) {
        easy.set(CCURLOPT_HEADERDATA, context)
        easy.set(CCURLOPT_WRITEDATA, context)
        easy.set(CCURLOPT_READDATA, context)
        easy.set(CCURLOPT_SEEKDATA, context)
        easy.set(CCURLOPT_OPENSOCKETDATA, context)
        easy.set(CCURLOPT_RESOLVER_START_DATA, context)
        ccurl_easy_set_data_callback(easy.pointer, CCURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            CurlHandle.from(context).receive(line: UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        ccurl_easy_set_data_callback(easy.pointer, CCURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            CurlHandle.from(context).receive(body: UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        easy.set(CCURLOPT_NOPROGRESS, 0)
        easy.set(CCURLOPT_XFERINFODATA, context)
        ccurl_easy_set_progress_callback(easy.pointer, CCURLOPT_XFERINFOFUNCTION) { context, _, _, _, _ in
            let handle = CurlHandle.from(context)
            handle.progress.report(in: handle.turns.callNumber)
            handle.recordUnaskedSend()
            guard handle.mayPrepareConnection() else { return 1 }
            handle.finishRound()
            return 0
        }
        ccurl_easy_set_data_callback(easy.pointer, CCURLOPT_READFUNCTION) { bytes, size, count, context in
            CurlHandle.from(context).supply(UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
        }
        ccurl_easy_set_seek_callback(easy.pointer, CCURLOPT_SEEKFUNCTION) { context, offset, origin in
            let canRewind =
                offset == 0 && origin == SEEK_SET && CurlHandle.from(context).transfer?.upload?.rewind() == true
            return Int32(canRewind ? CCURL_SEEKFUNC_OK : CCURL_SEEKFUNC_CANTSEEK)
        }
        ccurl_easy_set_open_callback(easy.pointer, CCURLOPT_OPENSOCKETFUNCTION) { context, _, address in
            let handle = CurlHandle.from(context)
            handle.isResolving = false
            handle.refreshAuthorities()
            guard let address = address?.pointee, handle.transfer?.isOver == false else {
                return Int32(CCURL_SOCKET_BAD)
            }
            guard handle.mayConnect() else { return Int32(CCURL_SOCKET_BAD) }
            handle.transfer?.note { if $0.connect == 0 { $0.connect = MonotonicTime.nanoseconds } }
            // Child processes must not inherit connections.
            let opened = socket(address.family, address.socktype | Int32(SOCK_CLOEXEC.rawValue), address.protocol)
            handle.socketError = opened < 0 ? errno : 0
            if opened >= 0 {
                handle.openedSockets.append(opened)
                handle.openSockets.add(opened)
            }
            return opened
        }
        // A connection outlives its handle, and the loop outlives its connections.
        easy.set(CCURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(openSockets).toOpaque())
        ccurl_easy_set_close_callback(easy.pointer, CCURLOPT_CLOSESOCKETFUNCTION) { context, socket in
            guard let context else { return close(socket) }
            return Unmanaged<CurlOpenSockets>.fromOpaque(context).takeUnretainedValue().close(socket)
        }
        ccurl_easy_set_resolve_callback(easy.pointer, CCURLOPT_RESOLVER_START_FUNCTION) { _, _, context in
            let handle = CurlHandle.from(context)
            handle.isResolving = true
            handle.transfer?.note { if $0.lookup == 0 { $0.lookup = MonotonicTime.nanoseconds } }
            return 0
        }
    }

    /// The handle of a callback.
    ///
    /// libcurl passes the context that was set when the handle was created, and no server can change it. So the
    /// function traps only if the library itself has not set the context correctly.
    static func from(_ context: UnsafeMutableRawPointer?) -> CurlHandle {
        guard let context else { preconditionFailure("libcurl lost its context") }
        return Unmanaged<CurlHandle>.fromOpaque(context).takeUnretainedValue()
    }

    func useHTTP1() {
        usesHTTP1 = true
        easy.set(CCURLOPT_HTTP_VERSION, CCURL_HTTP_VERSION_1_1)
    }

    /// Sets the options of one transfer.
    func prepare(_ transfer: CurlTransfer) {
        self.transfer = transfer
        transfer.handle = self
        head.reset(
            mayExpectContinue: transfer.upload != nil || transfer.inlineBody != nil,
            isHTTP1: requiresHTTP1(transfer) || isSequential(transfer)
        )
        if CurlRuntime.readsTLSSettingsEarly { refreshAuthorities() }
        easy.set(CCURLOPT_URL, transfer.block.url)
        ccurl_easy_set_list(easy.pointer, CCURLOPT_HTTPHEADER, transfer.block.headers)
        if let cookies = transfer.block.cookies { easy.set(CCURLOPT_COOKIE, cookies) }
        // Another request's new connection may also carry this request. libcurl waits until it knows the HTTP version
        // of that connection, from the TLS handshake or from the configuration. Without TLS and without prior
        // knowledge, libcurl would learn the version only from the other request's response, so the option is not set.
        if configuration.httpVersion.mayMultiplex(isSecure: transfer.block.isSecure), !requiresHTTP1(transfer) {
            easy.set(CCURLOPT_PIPEWAIT, 1)
            if let byteCount = CurlRuntime.sharedBufferByteCount { easy.set(CCURLOPT_BUFFERSIZE, byteCount) }
            isLogged = CurlRuntime.readsLog
            if isLogged { easy.set(CCURLOPT_VERBOSE, 1) }
        }
        if transfer.request.delivery == .streamed { prepareStream(of: transfer) }
        prepareSend(of: transfer)
        guard transfer.request.method != .get || transfer.inlineBody != nil || transfer.upload != nil else { return }
        prepareMethod(of: transfer)
    }

    func prepareStream(of transfer: CurlTransfer) {
        let offersOnlyHTTP1 = offersOnlyHTTP1(transfer)
        let mayShare = configuration.httpVersion != .http1 && !offersOnlyHTTP1
        let minimum = mayShare ? CurlRuntime.sharedBufferByteCount ?? 0 : 0
        easy.set(CCURLOPT_BUFFERSIZE, max(minimum, TransferState.readByteCount(of: .streamed)))
        guard configuration.httpVersion == .automatic else { return }
        easy.set(CCURLOPT_HTTP_VERSION, configuration.httpVersion.number(isStreamed: offersOnlyHTTP1))
    }

    private func prepareMethod(of transfer: CurlTransfer) {
        if transfer.request.method == .head {
            easy.set(CCURLOPT_NOBODY, 1)
            return
        }
        if let body = transfer.inlineBody {
            ccurl_easy_set_offset(easy.pointer, CCURLOPT_POSTFIELDSIZE_LARGE, Int64(body.count))
            body.withUnsafeBytes { bytes in
                // Never null, because null would mean that there is no body.
                let start = bytes.baseAddress ?? UnsafeRawPointer(errorText)
                ccurl_easy_set_pointer(easy.pointer, CCURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: start))
            }
        } else if let upload = transfer.upload {
            easy.set(CCURLOPT_UPLOAD, 1)
            ccurl_easy_set_offset(easy.pointer, CCURLOPT_INFILESIZE_LARGE, upload.byteCount.map { Int64($0) } ?? -1)
        }
        easy.set(CCURLOPT_CUSTOMREQUEST, transfer.block.method)
    }
}

extension CurlHandle: Hashable {
    static func == (left: CurlHandle, right: CurlHandle) -> Bool { left === right }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}

#endif
