// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if !canImport(FoundationNetworking)
extension URLSessionExchange {
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        // The last transaction, because the session sends a request again after a challenge.
        guard let transaction = metrics.transactionMetrics.last else { return }
        timesRecord?.update { $0 = TransportTimes(transaction) }
    }
}

extension TransportTimes {
    /// Converts a session's measurements; a phase without a start date or an end date is nil.
    fileprivate init(_ metrics: URLSessionTaskTransactionMetrics) {
        self.init()
        let begun = metrics.domainLookupStartDate ?? metrics.connectStartDate ?? metrics.requestStartDate
        self[.waiting] = Self.duration(metrics.fetchStartDate, begun)
        self[.nameLookup] = Self.duration(metrics.domainLookupStartDate, metrics.domainLookupEndDate)
        self[.connecting] = Self.duration(
            metrics.connectStartDate,
            metrics.secureConnectionStartDate ?? metrics.connectEndDate
        )
        self[.tlsHandshake] = Self.duration(metrics.secureConnectionStartDate, metrics.secureConnectionEndDate)
        self[.sending] = Self.duration(metrics.requestStartDate, metrics.requestEndDate)
        self[.responseWait] = Self.duration(metrics.requestEndDate, metrics.responseStartDate)
        self[.receiving] = Self.duration(metrics.responseStartDate, metrics.responseEndDate)
        isConnectionReused = metrics.isReusedConnection
        httpVersion = Self.httpVersion(metrics.networkProtocolName)
        tlsVersion = Self.tlsVersion(metrics.negotiatedTLSProtocolVersion?.rawValue)
        remoteAddress = metrics.remoteAddress
        remotePort = metrics.remotePort
        requestBodyByteCount = metrics.countOfRequestBodyBytesSent
        responseHeadByteCount = metrics.countOfResponseHeaderBytesReceived
        responseBodyByteCount = metrics.countOfResponseBodyBytesReceived
        decodedBodyByteCount = metrics.countOfResponseBodyBytesAfterDecoding
    }

    private static func duration(_ start: Date?, _ end: Date?) -> Duration? {
        guard let start, let end else { return nil }
        // These are dates of the wall clock, which may be set back.
        return .seconds(max(end.timeIntervalSince(start), 0))
    }
}
#endif

extension TransportTimes {
    /// The HTTP version in an ALPN protocol name, such as `h2`.
    static func httpVersion(_ name: String?) -> String? {
        guard let name = name?.lowercased() else { return nil }
        if name.hasPrefix("http/") { return String(name.dropFirst("http/".count)) }
        return name.hasPrefix("h") ? String(name.dropFirst()) : nil
    }

    /// The TLS version for its number in the protocol (RFC 8446, section 4.2.1).
    static func tlsVersion(_ number: UInt16?) -> String? {
        switch number {
        case 0x0301: "1.0"
        case 0x0302: "1.1"
        case 0x0303: "1.2"
        case 0x0304: "1.3"
        default: nil
        }
    }
}
