// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

/// One of libcurl's easy handles, used for one transfer after the other; on the loop's thread only.
final class CurlHandle {
    let easy: OpaquePointer
    private let configuration: CurlConfiguration
    private let share: OpaquePointer
    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: CCURL_ERROR_SIZE)

    /// What it is used for now; set while libcurl has it.
    var transfer: CurlTransfer?
    /// Whether it may be used for another transfer.
    ///
    /// Not after a 417: libcurl then never sends `Expect` by this handle again, to no host, and no reset mends that.
    private(set) var isReusable = true
    /// Whether a resolver's thread is looking a name up.
    var isResolving = false
    private var head = CurlHeadBuffer()
    private var expansion: CurlExpansionGuard?
    /// Whether nothing but URL and header list was set since the last reset.
    private var isPlain = true
    private var isWaitingForMultiplexing = false

    init?(_ configuration: CurlConfiguration, share: OpaquePointer) {
        guard let easy = curl_easy_init() else { return nil }
        self.easy = easy
        self.configuration = configuration
        self.share = share
        configure()
    }

    deinit {
        curl_easy_cleanup(easy)
        errorText.deallocate()
    }

    /// The handle that an easy handle of libcurl's belongs to.
    static func of(_ easy: OpaquePointer) -> CurlHandle? {
        var context: UnsafeMutableRawPointer?
        ccurl_easy_get_pointer(easy, CCURLINFO_PRIVATE, &context)
        return context.map { Unmanaged<CurlHandle>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Goes on after a pause.
    func resume() {
        curl_easy_pause(easy, 0)
    }

    /// Why the transfer failed; nil where it did not.
    func finish(_ code: Int32) -> ApiConnectorError? {
        guard let transfer else { return nil }
        if code == 0 {
            deliverHead(of: transfer)
            checkExpansion(adding: 0, of: transfer)
            return nil
        }
        if let failure = transfer.upload?.failure { return failure.completed(request: transfer.request) }
        return CurlErrors.error(
            code,
            words: String(cString: errorText),
            general: String(cString: curl_easy_strerror(code)),
            request: transfer.request
        )
    }
}

// MARK: Options

extension CurlHandle {
    private func set(_ option: Int, _ value: Int) {
        ccurl_easy_set_long(easy, option, value)
    }

    private func set(_ option: Int, _ value: String?) {
        ccurl_easy_set_text(easy, option, value)
    }

    private func set(_ option: Int, _ value: UnsafeMutableRawPointer?) {
        ccurl_easy_set_pointer(easy, option, value)
    }

    /// What holds for every transfer.
    private func configure() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        set(CCURLOPT_PRIVATE, context)
        set(CCURLOPT_NOSIGNAL, 1)
        set(CCURLOPT_ERRORBUFFER, UnsafeMutableRawPointer(errorText))
        set(CCURLOPT_PATH_AS_IS, 1)
        set(CCURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        set(CCURLOPT_QUICK_EXIT, 1)
        set(CCURLOPT_HTTP_VERSION, configuration.httpVersion.number(isStreamed: false))
        isWaitingForMultiplexing = false
        let (seconds, attoseconds) = configuration.connectTimeout.components
        let milliseconds = Double(seconds) * 1e3 + Double(attoseconds) / 1e15
        set(CCURLOPT_CONNECTTIMEOUT_MS, Int(min(max(milliseconds.rounded(.up), 1), 1e9)))
        ccurl_easy_set_share(easy, CCURLOPT_SHARE, share)
        configureSecurity()
        switch configuration.proxy {
        case .environment: break
        case .none: set(CCURLOPT_PROXY, "")
        case .url(let url): set(CCURLOPT_PROXY, url.absoluteString)
        }
        if configuration.decompression != .off { set(CCURLOPT_ACCEPT_ENCODING, "") }
        if configuration.cookies == .inMemory { set(CCURLOPT_COOKIEFILE, "") }
        setCallbacks(context)
    }

    private func configureSecurity() {
        if let file = configuration.certificateAuthorityFile {
            set(CCURLOPT_CAINFO, file.path)
            ccurl_easy_set_text(easy, CCURLOPT_CAPATH, nil)
        }
        if !configuration.pinnedPublicKeys.isEmpty {
            set(CCURLOPT_PINNEDPUBLICKEY, configuration.pinnedPublicKeys.map(\.description).joined(separator: ";"))
        }
        if let client = configuration.clientCertificate {
            set(CCURLOPT_SSLCERT, client.certificateFile.path)
            set(CCURLOPT_SSLKEY, client.keyFile.path)
            if let password = client.password { set(CCURLOPT_KEYPASSWD, password) }
        }
    }

    private func setCallbacks(_ context: UnsafeMutableRawPointer) {
        set(CCURLOPT_HEADERDATA, context)
        set(CCURLOPT_WRITEDATA, context)
        set(CCURLOPT_READDATA, context)
        set(CCURLOPT_SEEKDATA, context)
        set(CCURLOPT_OPENSOCKETDATA, context)
        set(CCURLOPT_RESOLVER_START_DATA, context)
        ccurl_easy_set_data_callback(easy, CCURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            CurlHandle.from(context).receive(line: UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        ccurl_easy_set_data_callback(easy, CCURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            CurlHandle.from(context).receive(body: UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        ccurl_easy_set_data_callback(easy, CCURLOPT_READFUNCTION) { bytes, size, count, context in
            CurlHandle.from(context).supply(UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
        }
        ccurl_easy_set_seek_callback(easy, CCURLOPT_SEEKFUNCTION) { context, offset, origin in
            let canRewind =
                offset == 0 && origin == SEEK_SET && CurlHandle.from(context).transfer?.upload?.rewind() == true
            return Int32(canRewind ? CCURL_SEEKFUNC_OK : CCURL_SEEKFUNC_CANTSEEK)
        }
        ccurl_easy_set_open_callback(easy, CCURLOPT_OPENSOCKETFUNCTION) { context, _, address in
            let handle = CurlHandle.from(context)
            handle.isResolving = false
            guard let address = address?.pointee, handle.transfer?.isOver == false else {
                return Int32(CCURL_SOCKET_BAD)
            }
            // A child process is not to inherit connections.
            return socket(address.family, address.socktype | Int32(SOCK_CLOEXEC.rawValue), address.protocol)
        }
        ccurl_easy_set_resolve_callback(easy, CCURLOPT_RESOLVER_START_FUNCTION) { _, _, context in
            CurlHandle.from(context).isResolving = true
            return 0
        }
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> CurlHandle {
        guard let context else { preconditionFailure("libcurl lost its context; set the option again after a reset") }
        return Unmanaged<CurlHandle>.fromOpaque(context).takeUnretainedValue()
    }

    /// What holds for one transfer.
    func prepare(_ transfer: CurlTransfer) {
        if !isPlain {
            curl_easy_reset(easy)
            configure()
            isPlain = true
        }
        self.transfer = transfer
        transfer.handle = self
        isResolving = false
        errorText.pointee = 0
        head.reset(mayExpectContinue: transfer.upload != nil || transfer.inlineBody != nil)
        if case .limited(let ratio, let byteCount) = configuration.decompression {
            expansion = CurlExpansionGuard(maximumRatio: ratio, maximumByteCount: byteCount)
        }
        ccurl_easy_set_text(easy, CCURLOPT_URL, transfer.block.url)
        ccurl_easy_set_list(easy, CCURLOPT_HTTPHEADER, transfer.block.headers)
        waitForMultiplexing(configuration.httpVersion.mayMultiplex(isSecure: transfer.block.isSecure))
        if transfer.request.delivery == .streamed, !configuration.streamsOverHTTP2 {
            isPlain = false
            set(CCURLOPT_HTTP_VERSION, configuration.httpVersion.number(isStreamed: true))
        }
        guard transfer.request.method != .get || transfer.inlineBody != nil || transfer.upload != nil else { return }
        isPlain = false
        prepareMethod(of: transfer)
    }

    /// Whether to wait for a connection that is being made, for it may carry this request, too.
    ///
    /// Only where the handshake decides that: with plain HTTP libcurl would wait for the other request's response.
    private func waitForMultiplexing(_ isWaiting: Bool) {
        guard isWaiting != isWaitingForMultiplexing else { return }
        isWaitingForMultiplexing = isWaiting
        set(CCURLOPT_PIPEWAIT, isWaiting ? 1 : 0)
    }

    private func prepareMethod(of transfer: CurlTransfer) {
        if transfer.request.method == .head {
            set(CCURLOPT_NOBODY, 1)
            return
        }
        if let body = transfer.inlineBody {
            ccurl_easy_set_offset(easy, CCURLOPT_POSTFIELDSIZE_LARGE, Int64(body.count))
            body.withUnsafeBytes { bytes in
                // Never null, which would mean that there is no body.
                let start = bytes.baseAddress ?? UnsafeRawPointer(errorText)
                ccurl_easy_set_pointer(easy, CCURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: start))
            }
        } else if let upload = transfer.upload {
            set(CCURLOPT_UPLOAD, 1)
            ccurl_easy_set_offset(easy, CCURLOPT_INFILESIZE_LARGE, upload.byteCount.map { Int64($0) } ?? -1)
            _ = upload.start()
        }
        ccurl_easy_set_text(easy, CCURLOPT_CUSTOMREQUEST, transfer.block.method)
    }
}

// MARK: What libcurl delivers

extension CurlHandle {
    /// What a callback returns to end the transfer: fewer bytes than it was given.
    private static let abort = 0

    private func receive(line: UnsafeRawBufferPointer) -> Int {
        guard let transfer else { return Self.abort }
        switch head.append(line) {
        case .proceed: break
        case .complete(isProvisional: true): isReusable = false
        case .complete(isProvisional: false): transfer.receive(head: head.take())
        case .refused(let reason):
            transfer.refuse(.malformedResponse, reason)
            return Self.abort
        }
        return line.count
    }

    private func receive(body bytes: UnsafeRawBufferPointer) -> Int {
        guard let transfer else { return Self.abort }
        guard !bytes.isEmpty else { return 0 }
        deliverHead(of: transfer)
        guard checkExpansion(adding: bytes.count, of: transfer) else { return Self.abort }
        switch transfer.receive(bytes) {
        case .kept, .handedOver: return bytes.count
        case .full:
            expansion?.takeBack(bytes.count)
            return CCURL_WRITEFUNC_PAUSE
        case .refused: return Self.abort
        }
    }

    private func supply(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        switch transfer?.upload?.supply(buffer) {
        case .copied(let count):
            transfer?.request.reportProgress()
            return count
        case .pause: return CCURL_READFUNC_PAUSE
        case .end: return 0
        case .fail, nil: return CCURL_READFUNC_ABORT
        }
    }

    /// A head that was kept back, because libcurl might have sent the request again, is the final one after all.
    private func deliverHead(of transfer: CurlTransfer) {
        guard head.isProvisional else { return }
        transfer.receive(head: head.take())
    }

    @discardableResult
    private func checkExpansion(adding byteCount: Int, of transfer: CurlTransfer) -> Bool {
        guard head.isEncoded, expansion != nil else { return true }
        var received: Int64 = 0
        ccurl_easy_get_offset(easy, CCURLINFO_SIZE_DOWNLOAD_T, &received)
        guard let reason = expansion?.admit(byteCount, wireByteCount: Int(received)) else { return true }
        transfer.refuse(.bodyTooLarge, reason)
        return false
    }
}

extension CurlHandle: Hashable {
    static func == (left: CurlHandle, right: CurlHandle) -> Bool { left === right }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}

extension CurlConfiguration.HTTPVersion {
    fileprivate func mayMultiplex(isSecure: Bool) -> Bool {
        switch self {
        case .automatic: isSecure
        case .http1: false
        case .http2PriorKnowledge: true
        }
    }

    fileprivate func number(isStreamed: Bool) -> Int {
        switch self {
        case .http1: CCURL_HTTP_VERSION_1_1
        case .http2PriorKnowledge: CCURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
        case .automatic:
            isStreamed ? CCURL_HTTP_VERSION_1_1 : CCURL_HTTP_VERSION_2TLS
        }
    }
}

#endif
