// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

// What libcurl's log says about the stream of a request.

extension CurlHandle {
    /// Prepares libcurl to report its log; only requests that may use HTTP/2 turn it on.
    func setLogCallback(_ context: UnsafeMutableRawPointer) {
        guard CurlRuntime.tellsRefusedStreams else { return }
        easy.set(CCURLOPT_DEBUGDATA, context)
        ccurl_easy_set_debug_callback(easy.pointer, CCURLOPT_DEBUGFUNCTION) { _, type, text, count, context in
            guard type == CCURL_LOG_TEXT else { return 0 }
            CurlHandle.from(context).read(logLine: UnsafeRawBufferPointer(start: text, count: count))
            return 0
        }
    }

    /// Whether the server has not processed the request that was sent last.
    var isUnprocessed: Bool {
        log.outcome == .unprocessed || isAfterLastStream
    }

    /// Whether a GOAWAY names an earlier stream as the last one that the server processes (RFC 9113, section 6.8).
    ///
    /// Any transfer of the connection may have read it.
    private var isAfterLastStream: Bool {
        guard let stream = log.stream, let connection, let last = sockets.lastStream(of: connection) else {
            return false
        }
        return stream > last
    }

    private func read(logLine text: UnsafeRawBufferPointer) {
        switch CurlStreamLog.line(text) {
        case .stream(let stream): log.stream = stream
        case .goAway(let lastStream):
            // Without a connection, libcurl reads from one that it may choose, and that no transfer uses.
            if let connection { sockets.recordGoAway(lastStream, on: connection) }
        case .unsent: log.isUnsent = true
        case .refused:
            log.outcome = .unprocessed
        case .died:
            judgeRepetition()
            connection = nil
        case .empty:
            if String(cString: errorText) == CurlStreamLog.emptyReply { judgeEnd() }
        case nil: break
        }
    }

    /// Finds out why libcurl sends the request again.
    ///
    /// Before version 8.0, libcurl fails to read without a text for one reason only: the server refused the stream.
    private func judgeRepetition() {
        guard log.outcome == nil, log.stream != nil else { return }
        if isAfterLastStream {
            log.outcome = .unprocessed
        } else if errorText.pointee == 0, progress.isNone(in: turns.callNumber) {
            log.outcome = .unprocessed
        }
    }

    /// Finds out whether libcurl ended the connection because the server broke the rules of HTTP/2.
    ///
    /// Without its own error, libcurl gives up an HTTP/2 connection when the server said GOAWAY, when the
    /// connection ended, or when it sent GOAWAY itself. It does the last for broken rules only.
    private func judgeEnd() {
        guard CurlRuntime.tellsBrokenRules, log.outcome == nil, log.stream != nil, let connection,
            sockets.lastStream(of: connection) == nil, sockets.hasEnded(connection) == false
        else { return }
        log.outcome = .broken
    }

    /// The error of a request whose connection libcurl ended for broken rules; `nil` for another end.
    func brokenRules(of transfer: CurlTransfer) -> ApiConnectorError? {
        guard log.outcome == .broken else { return nil }
        return ApiConnectorError(
            .malformedResponse,
            "the server violated HTTP/2, so the connection was closed",
            request: transfer.request
        )
    }
}

#endif
