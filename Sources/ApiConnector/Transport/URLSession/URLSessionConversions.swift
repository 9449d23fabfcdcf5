// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension URLRequest {
    /// Makes a `URLRequest` from a request.
    ///
    /// Repeated fields are joined with commas, and cookies with semicolons, because a `URLRequest` has one value per
    /// name.
    ///
    /// - Throws: ``ApiConnectorError`` of kind `.invalidRequest` if the request must not be sent, and `.encodingFailed`
    ///   if the body does not encode.
    public init(_ request: ApiRequest) throws(ApiConnectorError) {
        try self.init(headOf: request)
        guard !request.body.isEmpty else { return }
        do {
            httpBody = try request.body.data()
        } catch {
            throw error.completed(request: request)
        }
    }

    /// Makes a `URLRequest` without a body.
    init(headOf request: ApiRequest) throws(ApiConnectorError) {
        try request.checkSendable()
        self.init(url: request.url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: Self.noTimeout)
        httpMethod = request.method.rawValue
        // The session frames the body.
        for field in request.headers where field.name != .contentLength && field.name != "Transfer-Encoding" {
            let name = field.name.rawValue
            if field.name == .cookie, let earlier = value(forHTTPHeaderField: name) {
                setValue("\(earlier); \(field.value)", forHTTPHeaderField: name)
            } else {
                addValue(field.value, forHTTPHeaderField: name)
            }
        }
        guard !request.body.isEmpty else { return }
        // Without a length, a stream is sent in chunks. For a file, the session sets the length.
        if let source = request.body.source, source.file == nil, let byteCount = source.byteCount {
            setValue(String(byteCount), forHTTPHeaderField: HTTPHeaders.Name.contentLength.rawValue)
        }
        // R6: without a type, Linux sends every body as a form.
        if !request.headers.contains(.contentType) {
            let mediaType = request.body.mediaType ?? .octetStream
            setValue(mediaType.description, forHTTPHeaderField: HTTPHeaders.Name.contentType.rawValue)
        }
    }

    /// A timeout that is too long to have an effect, because the library applies its own timeouts.
    ///
    /// R4: URLSession's timeouts have a resolution of seconds at best.
    static let noTimeout: TimeInterval = 7 * 24 * 60 * 60
}

extension ApiRequest {
    /// Makes a request from a `URLRequest`; the body is read from `httpBody`, not from a stream.
    ///
    /// - Throws: ``ApiConnectorError`` of kind `.invalidRequest` if it has no URL.
    public init(_ request: URLRequest) throws(ApiConnectorError) {
        guard let url = request.url else {
            throw ApiConnectorError(.invalidRequest, at: .request, "the URLRequest has no URL")
        }
        self.init(url: url, method: HTTPMethod(rawValue: request.httpMethod ?? "GET"))
        for (name, value) in (request.allHTTPHeaderFields ?? [:]).sorted(by: { $0.key < $1.key }) {
            headers.append(HTTPHeaders.Name(name), value)
        }
        if let data = request.httpBody {
            body = .data(data, mediaType: headers[.contentType].flatMap { MediaType($0) } ?? .octetStream)
        }
    }
}

extension ApiRequest {
    /// The same request with a streamed body read into memory.
    ///
    /// R2: on Linux, a session treats a body stream as ended the first time that it has no data, and sends a truncated
    /// body.
    ///
    /// The time limits apply while the source is read. A source that ignores its cancellation is left behind.
    func collectingBody(upTo maximumByteCount: Int) async throws(ApiConnectorError) -> ApiRequest {
        guard body.isStreamed else { return self }
        var request = self
        do {
            let data = try await leavingBehind(limitsAttempt: true, appliesStall: true) { [self] in
                try await body.collect(upTo: maximumByteCount) { reportProgress() }
            }
            request.body = .data(data, mediaType: body.mediaType ?? .octetStream)
        } catch {
            guard error.kind == .bodyTooLarge else { throw error.completed(request: self) }
            throw ApiConnectorError(
                .bodyTooLarge,
                at: .request,
                "the request's body is streamed and longer than \(maximumByteCount) bytes, which is the most that "
                    + "URLSession accepts; use SystemProvider on Linux, which streams it",
                request: self
            )
        }
        return request
    }
}

extension ApiResponse {
    /// Makes a response from a session's response.
    ///
    /// Foundation stores the fields in a dictionary. Their order is lost, so they are sorted by name, and repeated
    /// fields are joined with commas. Only `Set-Cookie` is split again (M9).
    init(to request: ApiRequest, head: HTTPURLResponse, body: ResponseBody) {
        var headers = HTTPHeaders()
        let fields = head.allHeaderFields.compactMap { key, value in
            (key as? String).flatMap { key in (value as? String).map { (key, $0) } }
        }
        for (key, value) in fields.sorted(by: { $0.0 < $1.0 }) {
            let name = HTTPHeaders.Name(key)
            if name == .setCookie {
                for cookie in SetCookie.fields(in: value) { headers.append(name, cookie) }
            } else {
                headers.append(name, value)
            }
        }
        self.init(
            to: request,
            status: HTTPStatus(rawValue: head.statusCode),
            headers: headers,
            body: body,
            url: head.url
        )
    }
}

extension ApiConnectorError {
    /// Makes an error from a session's error.
    ///
    /// M8: on Linux, many failures of libcurl have the code -1 with libcurl's text. Their meaning depends on whether a
    /// head had arrived.
    init(transport error: any Error, request: ApiRequest, hasHead: Bool) {
        let nsError = error as NSError
        let words = TransferErrors.explained(Self.sentence(nsError.localizedDescription))
        #if canImport(FoundationNetworking)
        // The new error does not contain the session's error, which may contain the proxy's password. The proxy's
        // refusal of a CONNECT also arrives as a head, so an error after a head may be the proxy's.
        if !hasHead || TransferErrors.connectStatus(inWords: words) != 0,
            let known = TransferErrors.proxyError(ofWords: words, request: request)
        {
            self = known
            return
        }
        #endif
        if nsError.domain == NSURLErrorDomain, let kind = Self.kind(ofWords: words, code: nsError.code, hasHead) {
            self.init(kind, words, request: request, underlying: error)
        } else {
            self.init(mapping: error, request: request)
        }
        let isInHandshake = words.contains("SSL_connect")
        if kind == .secureConnectionFailed || isInHandshake {
            self = advising(TransferErrors.advice(ofWords: words, at: request.url, isInHandshake: isInHandshake))
        }
    }

    private static func kind(ofWords words: String, code: Int, _ hasHead: Bool) -> Kind? {
        if statusLineWords.contains(where: { words.contains($0) }) { return .malformedResponse }
        if words.contains("Empty reply") { return .connectionLost }
        guard code == NSURLErrorUnknown else { return nil }
        if !hasHead, secureWords.contains(where: { words.contains($0) }) { return .secureConnectionFailed }
        if framingWords.contains(where: { words.contains($0) }) { return .malformedResponse }
        return !hasHead && malformedWords.contains { words.contains($0) } ? .malformedResponse : .connectionLost
    }

    /// libcurl's texts about an invalid status line, for which Foundation reports an invalid URL.
    ///
    /// HTTP/0.9 has no status line: a server with another protocol responded.
    private static let statusLineWords = [
        "HTTP/0.9", "Unsupported HTTP", "Unsupported response code", "Version mismatch", "Invalid status line",
    ]

    /// libcurl's texts about a failed handshake, which are OpenSSL's; a reset on a secure connection has other texts.
    private static let secureWords = ["SSL routines", "SSL certificate"]

    /// libcurl's texts about the framing of a body, and about a field; a field may also be a trailer.
    private static let framingWords =
        CurlLogTexts.invalidChunks + [
            "Content-Length:", "Transfer-Encoding", "Out of memory", "grew larger than allowed", "response header",
            "in header", "Header without colon",
        ]

    /// libcurl's texts about bytes that are not HTTP; "Failed writing header", or "Failure writing output" before the
    /// head, means that Foundation's own parser failed.
    private static let malformedWords = [
        "Failed writing header", "Failure writing output", "Weird server reply", "Unsupported", "header",
    ]
}

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
