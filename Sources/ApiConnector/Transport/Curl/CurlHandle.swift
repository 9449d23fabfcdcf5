// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

/// One of libcurl's easy handles, used for one transfer after the other; in a turn of the loop only.
final class CurlHandle {
    let easy: CurlEasy
    private let configuration: CurlConfiguration
    private let share: OpaquePointer
    private let deliveries: CurlDeliveries
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

    init?(_ configuration: CurlConfiguration, share: OpaquePointer, deliveries: CurlDeliveries) {
        guard let pointer = curl_easy_init() else { return nil }
        easy = CurlEasy(pointer: pointer)
        self.configuration = configuration
        self.share = share
        self.deliveries = deliveries
        configure()
    }

    deinit {
        curl_easy_cleanup(easy.pointer)
        errorText.deallocate()
    }

    /// The handle that an easy handle of libcurl's belongs to.
    static func of(_ easy: OpaquePointer) -> CurlHandle? {
        var context: UnsafeMutableRawPointer?
        ccurl_easy_get_pointer(easy, CCURLINFO_PRIVATE, &context)
        return context.map { Unmanaged<CurlHandle>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Goes on after a pause.
    ///
    /// libcurl delivers what it has kept back meanwhile at once.
    ///
    /// - Returns: Libcurl's code; where it is not 0 the transfer is over, and libcurl says so nowhere else.
    func resume() -> Int32 {
        curl_easy_pause(easy.pointer, 0)
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
            hasHead: head.isComplete,
            request: transfer.request
        )
    }
}

// MARK: Options

extension CurlHandle {
    /// What holds for every transfer.
    private func configure() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        easy.set(CCURLOPT_PRIVATE, context)
        easy.set(CCURLOPT_ERRORBUFFER, UnsafeMutableRawPointer(errorText))
        ccurl_easy_set_share(easy.pointer, CCURLOPT_SHARE, share)
        configuration.apply(to: easy)
        isWaitingForMultiplexing = false
        setCallbacks(context)
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
            guard let address = address?.pointee, handle.transfer?.isOver == false else {
                return Int32(CCURL_SOCKET_BAD)
            }
            // A child process is not to inherit connections.
            return socket(address.family, address.socktype | Int32(SOCK_CLOEXEC.rawValue), address.protocol)
        }
        ccurl_easy_set_resolve_callback(easy.pointer, CCURLOPT_RESOLVER_START_FUNCTION) { _, _, context in
            CurlHandle.from(context).isResolving = true
            return 0
        }
    }

    /// The handle that a callback is about.
    ///
    /// It traps on a fault of this file alone: no server decides what libcurl hands back, and what it was given is set
    /// again with every reset.
    private static func from(_ context: UnsafeMutableRawPointer?) -> CurlHandle {
        guard let context else { preconditionFailure("libcurl lost its context; set the option again after a reset") }
        return Unmanaged<CurlHandle>.fromOpaque(context).takeUnretainedValue()
    }

    /// What holds for one transfer.
    func prepare(_ transfer: CurlTransfer) {
        if !isPlain {
            curl_easy_reset(easy.pointer)
            configure()
            isPlain = true
        }
        self.transfer = transfer
        transfer.handle = self
        isResolving = false
        errorText.pointee = 0
        head.reset(mayExpectContinue: transfer.upload != nil || transfer.inlineBody != nil)
        if case .limited(let ratio, let byteCount) = configuration.decompression {
            expansion = CurlExpansionGuard(
                maximumRatio: ratio,
                maximumByteCount: byteCount,
                readByteCount: CurlTransferState.readByteCount(of: transfer.request.delivery)
            )
        }
        easy.set(CCURLOPT_URL, transfer.block.url)
        ccurl_easy_set_list(easy.pointer, CCURLOPT_HTTPHEADER, transfer.block.headers)
        waitForMultiplexing(configuration.httpVersion.mayMultiplex(isSecure: transfer.block.isSecure))
        if transfer.request.delivery == .streamed { prepareStream() }
        guard transfer.request.method != .get || transfer.inlineBody != nil || transfer.upload != nil else { return }
        isPlain = false
        prepareMethod(of: transfer)
    }

    private func prepareStream() {
        isPlain = false
        easy.set(CCURLOPT_BUFFERSIZE, CurlTransferState.readByteCount(of: .streamed))
        guard !configuration.streamsOverHTTP2 else { return }
        easy.set(CCURLOPT_HTTP_VERSION, configuration.httpVersion.number(isStreamed: true))
    }

    /// Whether to wait for a connection that is being made, for it may carry this request, too.
    ///
    /// Only where the handshake decides that: with plain HTTP libcurl would wait for the other request's response.
    private func waitForMultiplexing(_ isWaiting: Bool) {
        guard isWaiting != isWaitingForMultiplexing else { return }
        isWaitingForMultiplexing = isWaiting
        easy.set(CCURLOPT_PIPEWAIT, isWaiting ? 1 : 0)
    }

    private func prepareMethod(of transfer: CurlTransfer) {
        if transfer.request.method == .head {
            easy.set(CCURLOPT_NOBODY, 1)
            return
        }
        if let body = transfer.inlineBody {
            ccurl_easy_set_offset(easy.pointer, CCURLOPT_POSTFIELDSIZE_LARGE, Int64(body.count))
            body.withUnsafeBytes { bytes in
                // Never null, which would mean that there is no body.
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
        case .kept: return bytes.count
        case .awaited:
            deliveries.add(transfer)
            return bytes.count
        case .full:
            expansion?.takeBack(bytes.count)
            return CCURL_WRITEFUNC_PAUSE
        case .refused: return Self.abort
        }
    }

    private func supply(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        switch transfer?.upload?.supply(buffer) {
        case .copied(let count):
            transfer?.reportSent()
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
        ccurl_easy_get_offset(easy.pointer, CCURLINFO_SIZE_DOWNLOAD_T, &received)
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

#endif
