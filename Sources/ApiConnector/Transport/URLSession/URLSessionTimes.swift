// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if !canImport(FoundationNetworking)
extension URLSessionExchange {
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        // The last of several: the session sends a request again after a challenge.
        guard let transaction = metrics.transactionMetrics.last else { return }
        timesRecord?.update { $0 = TransportTimes(transaction) }
    }
}

extension TransportTimes {
    /// What a session has measured; a phase that it does not name begins where the one before ended.
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
        // Dates of the wall clock, which may be set back.
        return .seconds(max(end.timeIntervalSince(start), 0))
    }
}
#endif

extension TransportTimes {
    /// The version of HTTP in the name of a protocol (ALPN), such as `h2`.
    static func httpVersion(_ name: String?) -> String? {
        guard let name = name?.lowercased() else { return nil }
        if name.hasPrefix("http/") { return String(name.dropFirst("http/".count)) }
        return name.hasPrefix("h") ? String(name.dropFirst()) : nil
    }

    /// The version of TLS that its number on the wire says (RFC 8446, section 4.2.1).
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
