// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension URLRequest {
    /// The same request for a `URLSession`.
    ///
    /// Fields that repeat are joined by a comma, cookies by a semicolon, because a `URLRequest` has one value a name.
    ///
    /// - Throws: ``ApiConnectorError`` of kind `.invalidRequest` for what must not be sent, `.encodingFailed` for a
    ///   body that does not encode.
    public init(_ request: ApiRequest) throws(ApiConnectorError) {
        try self.init(headOf: request)
        guard !request.body.isEmpty else { return }
        do {
            httpBody = try request.body.data()
        } catch {
            throw error.completed(request: request)
        }
    }

    /// The same request for a `URLSession`, without its body.
    init(headOf request: ApiRequest) throws(ApiConnectorError) {
        try request.checkSendable()
        self.init(url: request.url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: Self.noTimeout)
        httpMethod = request.method.rawValue
        // How the body is framed is the session's to say.
        for field in request.headers where field.name != .contentLength && field.name != "Transfer-Encoding" {
            let name = field.name.rawValue
            if field.name == .cookie, let earlier = value(forHTTPHeaderField: name) {
                setValue("\(earlier); \(field.value)", forHTTPHeaderField: name)
            } else {
                addValue(field.value, forHTTPHeaderField: name)
            }
        }
        guard !request.body.isEmpty else { return }
        // Without a length, a stream is sent in chunks. The length of a file is the session's to say.
        if let source = request.body.source, source.file == nil, let byteCount = source.byteCount {
            setValue(String(byteCount), forHTTPHeaderField: HTTPHeaders.Name.contentLength.rawValue)
        }
        // R6: without a type Linux calls every body a form.
        if !request.headers.contains(.contentType) {
            let mediaType = request.body.mediaType ?? .octetStream
            setValue(mediaType.description, forHTTPHeaderField: HTTPHeaders.Name.contentType.rawValue)
        }
    }

    /// R4: URLSession's own timeouts are whole seconds at best; the library's are its own, so these stay out of the
    /// way.
    static let noTimeout: TimeInterval = 7 * 24 * 60 * 60
}

extension ApiRequest {
    /// The same request for a provider; the body is read from `httpBody`, not from a stream.
    ///
    /// - Throws: ``ApiConnectorError`` of kind `.invalidRequest` where it has no URL.
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
