// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

/// The connection of one transfer, from the name lookup to its last send; does not call libcurl itself.
struct CurlConnecting {
    /// Whether libcurl may continue to prepare the connection.
    enum Preparation: Equatable {
        case proceed
        /// Only if the call was not canceled.
        case checkCancellation
        /// The proxy's response to CONNECT is too long.
        case refuse
    }

    /// The maximum size of a proxy's response to CONNECT, in bytes: 64 KiB.
    static let maximumTunnelByteCount = 64 * 1024

    /// Whether a resolver's thread is looking up a name.
    fileprivate(set) var isResolving = false
    /// The error number of the last attempt to open a socket; 0 if it succeeded.
    private(set) var socketError: Int32 = 0
    /// Whether the server requires HTTP/1.1, so that libcurl uses it.
    private(set) var usesHTTP1 = false
    /// The connection of the last send; nil before the first send, and after libcurl has left the connection.
    private(set) var connection: CurlConnectionName?
    /// Whether the connection was opened for this transfer.
    private(set) var isNew = false
    /// The sockets that were opened for this transfer.
    private var openedSockets: [Int32] = []
    /// How often libcurl has reported progress before the first send.
    private var preparationCount = 0

    /// Whether no socket was opened for this transfer since its last send.
    var isReused: Bool { openedSockets.isEmpty }

    /// Records the result of `socket`.
    ///
    /// - Parameter errorNumber: The error number, if the descriptor is negative.
    mutating func open(_ descriptor: Int32, errorNumber: Int32) {
        socketError = descriptor < 0 ? errorNumber : 0
        if descriptor >= 0 { openedSockets.append(descriptor) }
    }

    /// The sockets of which one is that of a new connection.
    mutating func takeOpenedSockets() -> [Int32] {
        defer { openedSockets = [] }
        return openedSockets
    }

    /// Records the connection of a send.
    mutating func use(_ connection: CurlConnectionName, isNew: Bool) {
        self.connection = connection
        self.isNew = isNew
    }

    /// Records that libcurl has left the connection.
    mutating func leave() {
        connection = nil
    }

    /// Records that libcurl uses HTTP/1.1 from now on.
    mutating func useHTTP1() {
        usesHTTP1 = true
    }

    /// Counts a progress report before the request is sent.
    ///
    /// libcurl reads a proxy's response to CONNECT byte by byte, without a limit and within one call, and reports
    /// progress after each byte. An endless response would block all transfers of the loop.
    ///
    /// The loop only removes a canceled transfer after libcurl's call has returned. So a cancellation is checked during
    /// the call, at every 256th byte.
    mutating func countPreparation() -> Preparation {
        preparationCount += 1
        if preparationCount > Self.maximumTunnelByteCount { return .refuse }
        return preparationCount.isMultiple(of: 256) ? .checkCancellation : .proceed
    }

    /// Prepares for sending the request again.
    mutating func restart() {
        openedSockets = []
        preparationCount = 0
        connection = nil
        isNew = false
    }
}

// MARK: Sockets

extension CurlHandle {
    /// Sets the callbacks that libcurl calls while it looks up a name, and opens and closes sockets.
    func setSocketCallbacks(_ context: UnsafeMutableRawPointer) {
        easy.set(CCURLOPT_OPENSOCKETDATA, context)
        ccurl_easy_set_open_callback(easy.pointer, CCURLOPT_OPENSOCKETFUNCTION) { context, _, address in
            CurlHandle.from(context).openSocket(address?.pointee)
        }
        // A connection outlives its handle, and the loop outlives its connections.
        easy.set(CCURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(openSockets).toOpaque())
        ccurl_easy_set_close_callback(easy.pointer, CCURLOPT_CLOSESOCKETFUNCTION) { context, socket in
            guard let context else { return close(socket) }
            return Unmanaged<CurlOpenSockets>.fromOpaque(context).takeUnretainedValue().close(socket)
        }
        easy.set(CCURLOPT_RESOLVER_START_DATA, context)
        ccurl_easy_set_resolve_callback(easy.pointer, CCURLOPT_RESOLVER_START_FUNCTION) { _, _, context in
            let handle = CurlHandle.from(context)
            handle.connecting.isResolving = true
            handle.transfer?.note { if $0.lookup == 0 { $0.lookup = MonotonicTime.nanoseconds } }
            return 0
        }
        guard CurlTLSWatch.canWatchCertificates else { return }
        easy.set(CCURLOPT_SSL_CTX_DATA, context)
        ccurl_easy_set_context_callback(easy.pointer, CCURLOPT_SSL_CTX_FUNCTION) { _, ssl, context in
            let handle = CurlHandle.from(context)
            handle.tls.watchCertificate(ssl)
            handle.transfer?.note { $0.handshake = MonotonicTime.nanoseconds }
            return 0
        }
    }

    private func openSocket(_ address: curl_sockaddr?) -> Int32 {
        connecting.isResolving = false
        refreshAuthorities()
        guard let address, let transfer, !transfer.isOver, mayConnect(transfer) else { return Int32(CCURL_SOCKET_BAD) }
        transfer.note { if $0.connect == 0 { $0.connect = MonotonicTime.nanoseconds } }
        // Child processes must not inherit connections.
        let descriptor = socket(address.family, address.socktype | Int32(SOCK_CLOEXEC.rawValue), address.protocol)
        connecting.open(descriptor, errorNumber: errno)
        if descriptor >= 0 { openSockets.add(descriptor) }
        return descriptor
    }

    /// Whether libcurl may continue to prepare the connection, before the request is sent.
    func mayPrepareConnection() -> Bool {
        let isSent = CurlRuntime.asksBeforeSending ? sending.sendCount > 0 : connecting.connection != nil
        guard !isSent, let transfer else { return true }
        switch connecting.countPreparation() {
        case .proceed: return true
        case .checkCancellation: return !transfer.isOver
        case .refuse:
            transfer.refuse(
                .cannotConnect,
                "the proxy's response to CONNECT is longer than \(CurlConnecting.maximumTunnelByteCount) bytes"
            )
            return false
        }
    }

    /// Records the socket of a connection that was opened for this transfer.
    func recordNewConnection(_ connection: CurlConnectionName, isSequential: Bool) {
        sockets.add(connecting.takeOpenedSockets(), connection, isSequential: isSequential)
        openSockets.forget(connection)
    }
}

// MARK: The HTTP version

extension CurlHandle {
    /// Whether the origin of a transfer that may use HTTP/2 over TLS has required HTTP/1.1.
    func requiresHTTP1(_ transfer: CurlTransfer) -> Bool {
        configuration.httpVersion == .automatic && transfer.requestHead.isSecure
            && sockets.requiredVersion(for: transfer.request.url) == .http1
    }

    /// Whether a transfer's new connection is known to carry one request at a time.
    func isSequential(_ transfer: CurlTransfer) -> Bool {
        if connecting.usesHTTP1 { return true }
        return switch configuration.httpVersion {
        case .http1: true
        case .http2PriorKnowledge: false
        case .automatic: !transfer.requestHead.isSecure || offersOnlyHTTP1(transfer)
        }
    }

    /// Whether a transfer over TLS offers only HTTP/1.1 because its response is streamed.
    func offersOnlyHTTP1(_ transfer: CurlTransfer) -> Bool {
        configuration.httpVersion == .automatic && transfer.request.delivery == .streamed
            && !configuration.streamsOverHTTP2
            && sockets.requiredVersion(for: transfer.request.url) != .http2
    }

    /// Sets the options of a streamed response.
    func prepareStream(of transfer: CurlTransfer) {
        let offersOnlyHTTP1 = offersOnlyHTTP1(transfer)
        let mayShare = configuration.httpVersion != .http1 && !offersOnlyHTTP1
        let minimum = mayShare ? CurlRuntime.sharedBufferByteCount ?? 0 : 0
        easy.set(CCURLOPT_BUFFERSIZE, max(minimum, TransferState.readByteCount(of: .streamed)))
        guard configuration.httpVersion == .automatic else { return }
        easy.set(CCURLOPT_HTTP_VERSION, configuration.httpVersion.number(isStreamed: offersOnlyHTTP1))
    }

    func useHTTP1() {
        connecting.useHTTP1()
        easy.set(CCURLOPT_HTTP_VERSION, CCURL_HTTP_VERSION_1_1)
    }

    /// Whether the server has refused a stream in the TLS handshake because it has no HTTP/1.1 (RFC 7301, section 3.2).
    func isRefusedForHTTP1(_ code: Int32, _ transfer: CurlTransfer) -> Bool {
        guard code == 35, offersOnlyHTTP1(transfer) else { return false }
        let words = errorWords
        return CurlLogTexts.noProtocol.contains { words.contains($0) }
    }

    /// Records whether the connection of an ended transfer carries one request at a time.
    func recordVersion(of transfer: CurlTransfer) {
        guard configuration.httpVersion == .automatic, transfer.requestHead.isSecure,
            let connection = connecting.connection
        else { return }
        var version = 0
        ccurl_easy_get_long(easy.pointer, CCURLINFO_HTTP_VERSION, &version)
        if version == CCURL_HTTP_VERSION_1_0 || version == CCURL_HTTP_VERSION_1_1 {
            sockets.markSequential(connection)
        }
    }
}

#endif
