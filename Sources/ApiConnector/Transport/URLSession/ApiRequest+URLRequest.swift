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
