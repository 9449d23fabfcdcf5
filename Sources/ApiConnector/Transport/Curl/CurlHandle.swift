// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

/// An easy handle of libcurl for one transfer; used only in a turn of the loop.
///
/// Each concern of a transfer has a value that decides, without a call of libcurl, in the file that is named after it.
/// The extension in the same file calls libcurl.
///
/// A handle is not reused, for these reasons:
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
    let turns: CurlTurns
    let sockets: CurlSockets
    let openSockets: CurlOpenSockets
    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: CCURL_ERROR_SIZE)

    /// The current transfer; set while the handle is added to libcurl.
    private(set) var transfer: CurlTransfer?
    /// How the connection is opened, and which one it is.
    var connecting = CurlConnecting()
    /// How often, and on which connections, the request is sent.
    var sending = CurlSendState()
    /// The head of the response.
    private(set) var head = CurlHeadReader()
    /// When the response and the body of the request pause.
    var flow = CurlFlow()
    /// libcurl's log about the last send.
    var log = CurlStreamLog()
    /// When the head arrived.
    var headTime = CurlHeadTime()
    /// OpenSSL's reports about the connection.
    var tls = CurlTLSWatch()

    init?(of loop: CurlLoop) {
        guard let pointer = curl_easy_init() else { return nil }
        easy = CurlEasy(pointer: pointer)
        configuration = loop.configuration
        turns = loop.turns
        sockets = loop.sockets
        openSockets = loop.openSockets
        errorText.initialize(to: 0)
        configure(loop.share)
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

    /// libcurl's text about a failure; empty for none.
    var errorWords: String { String(cString: errorText) }

    /// Whether libcurl has written no text about a failure.
    var hasNoErrorWords: Bool { errorText.pointee == 0 }

    /// Releases the transfer, and returns it.
    func releaseTransfer() -> CurlTransfer? {
        transfer?.handle = nil
        return transfer.take()
    }

    /// Prepares the handle for a second addition of its transfer to libcurl.
    ///
    /// - Parameter offersHTTP2: Whether the response may use HTTP/2 now.
    func restart(offersHTTP2: Bool) {
        connecting.restart()
        headTime = CurlHeadTime()
        log.restart()
        tls = CurlTLSWatch()
        errorText.pointee = 0
        if offersHTTP2 { head.isHTTP1 = false }
        head.reset(mayExpectContinue: head.mayExpectContinue, isHTTP1: head.isHTTP1)
    }

    /// Delivers the head of a transfer that has ended, if it is still held.
    ///
    /// - Returns: Why the transfer failed; nil for success.
    func finish(_ code: Int32) -> ApiConnectorError? {
        guard let transfer else { return nil }
        guard code == 0 || isAnsweredEarly(code) else { return error(code, of: transfer) }
        // A known length has been compared with the bytes that arrived. Where the log names a violation, the code of a
        // broken response is not 0.
        if log.outcome == .broken, announcedByteCount == nil { return brokenRules(of: transfer) }
        recordVersion(of: transfer)
        deliverHead(of: transfer)
        return tls.isCut ? CurlTLSWatch.cut(transfer.request) : nil
    }

    /// The length of the body according to the head; nil if the head names none.
    var announcedByteCount: Int64? {
        easy.byteCount(CCURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
    }

    /// Whether the transfer's connection was closed because libcurl did not return from it.
    var isShutDown: Bool { connecting.connection.map { openSockets.isShutDown($0) } ?? false }
}

// MARK: Options

extension CurlHandle {
    /// Sets the options that apply to every transfer.
    private func configure(_ share: OpaquePointer) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        easy.set(CCURLOPT_PRIVATE, context)
        easy.set(CCURLOPT_ERRORBUFFER, UnsafeMutableRawPointer(errorText))
        ccurl_easy_set_share(easy.pointer, CCURLOPT_SHARE, share)
        configuration.apply(to: easy)
        setDataCallbacks(context)
        setSocketCallbacks(context)
        setSendCallback(context)
        setLogCallback(context)
    }

    private func setDataCallbacks(_ context: UnsafeMutableRawPointer) {
        easy.set(CCURLOPT_HEADERDATA, context)
        easy.set(CCURLOPT_WRITEDATA, context)
        easy.set(CCURLOPT_READDATA, context)
        easy.set(CCURLOPT_SEEKDATA, context)
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
            handle.log.reportProgress(in: handle.turns.callNumber)
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
    }

    /// The handle of a callback.
    ///
    /// libcurl passes the context that was set when the handle was created, and no server can change it. So the
    /// function traps only if the library itself has not set the context correctly.
    static func from(_ context: UnsafeMutableRawPointer?) -> CurlHandle {
        guard let context else { preconditionFailure("libcurl lost its context") }
        return Unmanaged<CurlHandle>.fromOpaque(context).takeUnretainedValue()
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
        easy.set(CCURLOPT_URL, transfer.requestHead.url)
        ccurl_easy_set_list(easy.pointer, CCURLOPT_HTTPHEADER, transfer.requestHead.headers)
        if let cookies = transfer.requestHead.cookies { easy.set(CCURLOPT_COOKIE, cookies) }
        // Another request's new connection may also carry this request. libcurl waits until it knows the HTTP version
        // of that connection, from the TLS handshake or from the configuration. Without TLS and without prior
        // knowledge, libcurl would learn the version only from the other request's response, so the option is not set.
        if configuration.httpVersion.mayMultiplex(isSecure: transfer.requestHead.isSecure), !requiresHTTP1(transfer) {
            easy.set(CCURLOPT_PIPEWAIT, 1)
            if let byteCount = CurlRuntime.sharedBufferByteCount { easy.set(CCURLOPT_BUFFERSIZE, byteCount) }
            if CurlRuntime.readsLog {
                log.turnOn()
                easy.set(CCURLOPT_VERBOSE, 1)
            }
        }
        if transfer.request.delivery == .streamed { prepareStream(of: transfer) }
        prepareSend(of: transfer)
        guard transfer.request.method != .get || transfer.inlineBody != nil || transfer.upload != nil else { return }
        prepareMethod(of: transfer)
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
        easy.set(CCURLOPT_CUSTOMREQUEST, transfer.requestHead.method)
    }
}

// MARK: The head of the response

extension CurlHandle {
    /// The return value with which a callback ends the transfer: fewer bytes than it received.
    static let abort = 0

    private func receive(line: UnsafeRawBufferPointer) -> Int {
        guard let transfer else { return Self.abort }
        openSockets.countDelivered(line.count)
        recordUnaskedSend()
        // Over TLS, the handshake decides the HTTP version. libcurl logs the stream of each request over HTTP/2, so a
        // request without a stream uses HTTP/1.
        if log.isOn { head.isHTTP1 = log.stream == nil }
        if head.isAtStart, transfer.timesRecord != nil { headTime.begin(in: turns.number) }
        switch head.append(line) {
        case .proceed: break
        case .complete(isProvisional: true):
            guard prepareSendWithoutExpectation(of: transfer) else { return Self.abort }
        case .complete(isProvisional: false):
            noteHead(of: transfer)
            if head.endsWithConnection { tls.watchEnd(of: transfer, easy) }
            flow.begin(isHTTP1: head.isOverHTTP1)
            if !head.isOverHTTP1 { turns.recordSharing(of: transfer) }
            resumeUpload(of: transfer)
            // RFC 9112, section 6.3: bytes after such a body may be an attempt to smuggle a response.
            if head.hasDoubtfulEnd || hasUnsentBody(of: transfer) { easy.set(CCURLOPT_FORBID_REUSE, 1) }
            guard transfer.receive(head.take()) else { return Self.abort }
        case .refused(let reason):
            transfer.refuse(.malformedResponse, reason)
            return Self.abort
        }
        return line.count
    }

    /// Whether a response over HTTP/1 came before the first byte of the request's body, so that its connection must be
    /// closed.
    ///
    /// While libcurl waits for `100 Continue`, the server may answer and then read the announced body (RFC 9110, section
    /// 10.1.1). libcurl sends no body after the answer, but keeps the connection. The server would take the next request
    /// for the body.
    private func hasUnsentBody(of transfer: CurlTransfer) -> Bool {
        let byteCount = transfer.inlineBody?.count ?? transfer.upload.map { $0.byteCount ?? 1 } ?? 0
        return byteCount > 0 && head.isOverHTTP1 && easy.byteCount(CCURLINFO_SIZE_UPLOAD_T) ?? 0 == 0
    }

    /// Prepares libcurl's second send after a 417: without `Expect`, on another connection.
    ///
    /// Over HTTP/1, the server may still read the body that the first send has announced (RFC 9110, section 10.1.1). It
    /// would take the second send for the body.
    ///
    /// - Returns: False if the body cannot be sent again.
    private func prepareSendWithoutExpectation(of transfer: CurlTransfer) -> Bool {
        transfer.requestHead.removeExpectation()
        head.mayExpectContinue = false
        if head.isOverHTTP1 { easy.set(CCURLOPT_FORBID_REUSE, 1) }
        // Otherwise the callback before the send does this.
        let canSend = CurlRuntime.asksBeforeSending || sending.recordRewind(transfer.upload?.rewind() != false)
        resumeUpload(of: transfer)
        return canSend
    }

    /// Forgets a 417, so that a further send counts as a repetition.
    ///
    /// If libcurl 7.88 has sent a part of the body before the 417, it does not start at the first byte again.
    ///
    /// - Returns: False if a part of the body was sent, and cannot be read again.
    func beginSendWithoutExpectation(of transfer: CurlTransfer) -> Bool {
        head.reset(mayExpectContinue: false, isHTTP1: head.isHTTP1)
        easy.set(CCURLOPT_FORBID_REUSE, 0)
        return sending.recordRewind(transfer.upload?.rewind() != false)
    }

    /// Resumes a paused body after the head of a response.
    ///
    /// After a status of 300 and more, libcurl sends nothing more of the body. But it waits for the source of a paused
    /// body, unless the transfer is resumed.
    private func resumeUpload(of transfer: CurlTransfer) {
        if transfer.upload != nil { turns.pause(transfer) }
    }

    /// Delivers a head that was held back because libcurl might have sent the request again.
    func deliverHead(of transfer: CurlTransfer) {
        guard head.isProvisional else { return }
        head.keepFinal()
        noteHead(of: transfer)
        // If the head is refused, so is the body, and the transfer fails when it ends.
        _ = transfer.receive(head.take())
    }
}

extension CurlHandle: Hashable {
    static func == (left: CurlHandle, right: CurlHandle) -> Bool { left === right }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}

/// An easy handle of libcurl, with setters for options by the type of their value, and a getter for counts of bytes.
struct CurlEasy {
    let pointer: OpaquePointer

    func set(_ option: Int, _ value: Int) {
        ccurl_easy_set_long(pointer, option, value)
    }

    /// libcurl keeps a copy.
    func set(_ option: Int, _ value: String?) {
        ccurl_easy_set_text(pointer, option, value)
    }

    /// libcurl keeps a copy.
    func set(_ option: Int, _ value: UnsafePointer<CChar>) {
        ccurl_easy_set_text(pointer, option, value)
    }

    func set(_ option: Int, _ value: UnsafeMutableRawPointer) {
        ccurl_easy_set_pointer(pointer, option, value)
    }

    /// A count of bytes; nil if libcurl does not know it.
    func byteCount(_ information: Int) -> Int64? {
        var count: Int64 = -1
        guard ccurl_easy_get_offset(pointer, information, &count) == 0, count >= 0 else { return nil }
        return count
    }
}

#endif
