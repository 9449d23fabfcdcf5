// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

// Reads libcurl's log about the HTTP/2 stream of a request.

extension CurlHandle {
    /// Sets the callback for libcurl's log; only requests that may use HTTP/2 enable the log.
    func setLogCallback(_ context: UnsafeMutableRawPointer) {
        guard CurlRuntime.readsLog else { return }
        easy.set(CCURLOPT_DEBUGDATA, context)
        ccurl_easy_set_debug_callback(easy.pointer, CCURLOPT_DEBUGFUNCTION) { _, type, text, count, context in
            guard type == CCURL_LOG_TEXT else { return 0 }
            CurlHandle.from(context).read(logLine: UnsafeRawBufferPointer(start: text, count: count))
            return 0
        }
    }

    /// Whether it is certain that the server has not processed the last request sent.
    var isUnprocessed: Bool {
        log.outcome == .unprocessed || isAfterLastStream
    }

    /// Whether a GOAWAY names an earlier stream as the last one that the server processes (RFC 9113, section 6.8).
    ///
    /// Any transfer on the connection may have read it.
    private var isAfterLastStream: Bool {
        guard let stream = log.stream, let connection, let last = sockets.lastStream(of: connection) else {
            return false
        }
        return stream > last
    }

    private func read(logLine text: UnsafeRawBufferPointer) {
        switch CurlStreamLog.line(text, CurlRuntime.texts) {
        case .stream(let stream): log.stream = stream
        case .goAway(let lastStream, let error):
            // If this handle has no connection, libcurl is reading from a connection that no transfer uses.
            if let connection { sockets.recordGoAway(lastStream, on: connection) }
            if error == CurlStreamLog.http1Required { recordHTTP1() }
        case .unsent: log.isUnsent = true
        case .refused:
            log.outcome = .unprocessed
            if let connection { sockets.markClosing(connection) }
        case .refusedStream(let stream): if stream == log.stream { log.outcome = .unprocessed }
        case .malformed(let stream): if stream == log.stream { log.outcome = .malformed }
        case .violation:
            // The transfer that reads for all of the connection gets the line.
            guard let connection else { return }
            sockets.markBroken(connection)
            if CurlRuntime.texts.needsTrace { sockets.endReading(connection) }
        case .died:
            judgeRepetition()
            if let connection { sockets.markClosing(connection) }
            connection = nil
        case .downgraded:
            log.isDowngraded = true
            recordHTTP1()
        case .closed: log.isClosed = true
        case .full: log.isFull = true
        case .closing: if !log.isFull { judgeClosing() }
        // After a violation, libcurl does not keep the connection. So the server has reset the stream without an error.
        case .kept: if log.outcome == .broken { log.outcome = nil }
        case .empty:
            if !log.isDowngraded, String(cString: errorText) == CurlLogTexts.emptyReply { judgeEnd() }
        case nil: break
        }
    }

    private func recordHTTP1() {
        if let transfer { sockets.require(.http1, for: transfer.request.url) }
    }

    /// Determines why libcurl sends the request again.
    private func judgeRepetition() {
        guard log.outcome == nil, log.stream != nil else { return }
        if hasBrokenRules {
            log.outcome = .broken
        } else if isAfterLastStream || (errorText.pointee == 0 && isRefusedWithoutText) {
            log.outcome = .unprocessed
        }
    }

    /// Whether a read that failed without an error text means that the server refused the stream.
    private var isRefusedWithoutText: Bool {
        switch CurlRuntime.texts.refusal {
        case .failedRead: progress.isNone(in: turns.callNumber)
        // Sending also fails without a text, if the server has closed the stream.
        case .failedReadOfOpenConnection: !log.isClosed && isConnectionOpen
        case .named: false
        }
    }

    /// Whether it is certain that the server has not ended the connection, not even with `close_notify`.
    private var isConnectionOpen: Bool {
        guard let transfer, let connection, sockets.hasEnded(connection) == false else { return false }
        return !transfer.block.isSecure || CurlOpenSSL.isNotified(easy) == false
    }

    /// Determines whether libcurl ended the connection because the server violated HTTP/2.
    ///
    /// Unless libcurl reports an error itself, it gives up an HTTP/2 connection in three cases: the server sent GOAWAY,
    /// the connection ended, or libcurl sent GOAWAY. It only sends GOAWAY after a violation. The line
    /// ``CurlStreamLog/Line/kept`` follows if libcurl has not given up the connection.
    private func judgeEnd() {
        guard CurlRuntime.texts.showsViolationsByClosing, log.outcome == nil, log.stream != nil, let connection,
            sockets.lastStream(of: connection) == nil, sockets.hasEnded(connection) == false
        else { return }
        log.outcome = .broken
    }

    /// Determines whether libcurl closes the connection of a response because the server violated HTTP/2.
    ///
    /// After a violation, libcurl sends GOAWAY, and the next read is the end of the body for it. Otherwise it closes a
    /// connection after a response in three cases: the server sent GOAWAY, another transfer has given up the
    /// connection, or the server has ended TLS. A request whose body may not have been sent is not judged.
    private func judgeClosing() {
        guard CurlRuntime.texts.showsViolationsByClosing, send.step == .send, log.outcome == nil, log.stream != nil,
            let transfer, let connection, isBodySent, sockets.lastStream(of: connection) == nil,
            !sockets.isClosing(connection), !transfer.block.isSecure || CurlOpenSSL.isNotified(easy) == false
        else { return }
        log.outcome = .broken
    }

    /// Whether the server violated HTTP/2 on the stream or on the connection of a request that failed.
    var hasBrokenRules: Bool {
        log.outcome == .broken || log.outcome == .malformed || connection.map(sockets.isBroken) == true
    }

    /// The error of a request that failed because the server violated HTTP/2; `nil` for any other end.
    func brokenRules(of transfer: CurlTransfer) -> ApiConnectorError? {
        guard hasBrokenRules else { return nil }
        // libcurl's text may contain the value of a field.
        return ApiConnectorError(
            .malformedResponse,
            log.outcome == .malformed
                ? "the response violates HTTP/2" : "the server violated HTTP/2, so the connection was closed",
            request: transfer.request
        )
    }
}

#endif
