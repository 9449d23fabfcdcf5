// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

// Measures the times of a transfer's phases.

extension CurlHandle {
    /// Records that the final head is complete.
    func noteHead(of transfer: CurlTransfer) {
        guard transfer.timesRecord != nil else { return }
        let version = transfer.block.isSecure ? CurlOpenSSL.protocolVersion(of: easy) : nil
        transfer.timing.withLock { timing in
            timing.timeline.firstByte = headStart
            timing.tlsVersion = version
        }
        if transfer.request.delivery == .streamed { recordTimes(of: transfer) }
    }

    /// Reads libcurl's measurements.
    func recordTimes(of transfer: CurlTransfer) {
        guard transfer.timesRecord != nil else { return }
        var figures = ccurl_figures()
        let hasBody = transfer.inlineBody != nil || transfer.upload != nil
        ccurl_easy_get_figures(easy.pointer, isConnectionNew ? 1 : 0, hasBody ? 1 : 0, &figures)
        let connection = connection
        transfer.recordTimes(
            isConnectionNew
                ? CurlTimeline.Figures(
                    nameLookup: figures.name_lookup,
                    connect: figures.connect,
                    tlsHandshake: figures.app_connect
                ) : nil,
            // For a small response, which arrives in one turn, this saves a reading of the clock.
            at: headTurn == turns.number ? headStart : MonotonicTime.nanoseconds
        ) { times in
            times.isConnectionReused = !isConnectionNew
            times.httpVersion = Self.version(figures.http_version)
            times.remoteAddress = connection?.remoteAddress
            times.remotePort = connection.map { Int($0.remotePort) }
            times.requestBodyByteCount = figures.uploaded
            times.responseHeadByteCount = Int64(figures.header_size)
            times.responseBodyByteCount = figures.downloaded
            if !head.isEncoded || transfer.decompression == nil { times.decodedBodyByteCount = figures.downloaded }
        }
    }

    private static func version(_ number: Int) -> String? {
        switch number {
        case 1: "1.0"
        case 2: "1.1"
        case 3: "2"
        case 30: "3"
        default: nil
        }
    }
}

extension CurlOpenSSL {
    private static let getVersion: ccurl_ssl_get_version? = function("SSL_get_version")

    /// The TLS version of a transfer's connection, such as `1.3`; nil without OpenSSL.
    fileprivate static func protocolVersion(of easy: CurlEasy) -> String? {
        var pointer: UnsafeMutableRawPointer?
        guard let getVersion, ccurl_easy_get_pointer(easy.pointer, CCURLINFO_TLS_SSL_PTR, &pointer) == 0,
            let session = pointer?.assumingMemoryBound(to: ccurl_tls_session.self).pointee,
            session.backend == Int32(CCURL_SSL_BACKEND_OPENSSL), let ssl = session.internals,
            let name = getVersion(ssl)
        else { return nil }
        // This runs for each response, so the usual versions are literals, which need no conversion.
        if strcmp(name, "TLSv1.3") == 0 { return "1.3" }
        if strcmp(name, "TLSv1.2") == 0 { return "1.2" }
        let text = String(cString: name)
        return text.hasPrefix("TLSv") ? String(text.dropFirst("TLSv".count)) : text
    }
}

extension CurlTransfer {
    /// Writes the times of this transfer so far.
    ///
    /// - Parameters:
    ///   - figures: libcurl's measurements for a new connection; otherwise nil.
    ///   - end: The time of the measurement, in nanoseconds; now by default.
    func recordTimes(
        _ figures: CurlTimeline.Figures? = nil,
        at end: @autoclosure () -> Int64 = MonotonicTime.nanoseconds,
        _ more: (inout TransportTimes) -> Void = { _ in }
    ) {
        guard let timesRecord else { return }
        let end = end()
        let (timeline, tlsVersion) = timing.withLock { ($0.timeline, $0.tlsVersion) }
        timesRecord.update { times in
            timeline.write(to: &times, at: end, figures)
            times.tlsVersion = tlsVersion
            more(&times)
        }
    }
}

#endif
