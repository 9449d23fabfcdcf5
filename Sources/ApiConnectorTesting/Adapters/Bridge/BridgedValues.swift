// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

// What a session has, in the library's values, and the other way round.

extension ApiRequest {
    /// A session's request; a body that is a stream is read when somebody asks for it.
    ///
    /// - Parameter headers: Those of the session's configuration; the request's own come first.
    init(bridged request: URLRequest, headers: HTTPHeaders) throws(ApiConnectorError) {
        try self.init(request)
        #if canImport(FoundationNetworking)
        self.headers = headers.merging(self.headers)
        #endif
        delivery = .streamed
        // R8: on Apple's systems the body is a stream here, to be read once.
        guard body.isEmpty, let stream = request.httpBodyStream else { return }
        // Foundation hands the stream to this load alone, and only the closure that is handed over here uses it.
        nonisolated(unsafe) let input = stream
        let type = self.headers[.contentType].flatMap { MediaType($0) } ?? .octetStream
        body = .stream(mediaType: type, isReplayable: false) {
            let end = Eventual<Result<Data, any Error>>()
            // Its own thread: it waits for as long as the writer says nothing.
            Thread.detachNewThread { end.set(Result { try input.readAll() }) }
            // A stream whose writer says nothing more ends by the request's timeout, or with its task.
            let read = await withTaskCancellationHandler {
                await end.value()
            } onCancel: {
                end.set(.failure(CancellationError()))
            }
            do {
                return AsyncStream(of: try read.get())
            } catch let error as CancellationError {
                throw error
            } catch {
                throw ApiConnectorError(.encodingFailed, at: .request, "its body cannot be read", underlying: error)
            }
        }
    }
}

extension AsyncStream<Data> {
    fileprivate init(of data: Data) {
        self.init { continuation in
            continuation.yield(data)
            continuation.finish()
        }
    }
}

extension InputStream {
    /// The stream's bytes, up to 64 MiB.
    fileprivate func readAll() throws -> Data {
        open()
        defer { close() }
        var bytes = Data()
        var block = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= ResponseDelivery.standard.maximumByteCount {
            let count = read(&block, maxLength: block.count)
            guard count >= 0 else { throw streamError ?? URLError(.requestBodyStreamExhausted) }
            if count == 0 { return bytes }
            bytes += block[..<count]
        }
        throw URLError(.dataLengthExceedsMaximum)
    }
}

extension ApiResponse {
    /// The head for a session; fields that repeat are joined by commas.
    var sessionHead: HTTPURLResponse? {
        var fields: [String: String] = [:]
        for field in headers {
            let name = field.name.rawValue
            let key = fields.keys.first { $0.lowercased() == name.lowercased() } ?? name
            fields[key] = fields[key].map { "\($0), \(field.value)" } ?? field.value
        }
        return HTTPURLResponse(url: url, statusCode: status.rawValue, httpVersion: "HTTP/1.1", headerFields: fields)
    }
}

extension HTTPHeaders {
    /// The fields of a session's configuration.
    init(additional fields: [AnyHashable: Any]?) {
        self.init()
        let texts = (fields ?? [:]).compactMap { name, value in
            (name as? String).map { ($0, value as? String ?? "\(value)") }
        }
        for (name, value) in texts.sorted(by: { $0.0 < $1.0 }) { append(Name(name), value) }
    }
}

extension ApiConnectorError {
    /// The error that a session's task ends with.
    var sessionError: any Error {
        let code = URLError.Code(sessionShowing: self) ?? .resourceUnavailable
        let text = "\(self)"
        if let underlying = underlying as? URLError, underlying.code == code { return underlying }
        return URLError(code, userInfo: [NSLocalizedDescriptionKey: text])
    }
}

extension URLError.Code {
    /// The code that a session reports a failure by; nil where it has none.
    init?(sessionShowing error: any Error) {
        let known = error as? ApiConnectorError
        let origin = (known?.underlying ?? error) as NSError
        if origin.domain == NSURLErrorDomain {
            self.init(rawValue: origin.code)
            return
        }
        guard let code = Self.codes[ApiConnectorError.kind(of: error)] else { return nil }
        self = code
    }

    private static let codes: [ApiConnectorError.Kind: URLError.Code] = [
        .nameNotResolved: .cannotFindHost,
        .cannotConnect: .cannotConnectToHost,
        .secureConnectionFailed: .secureConnectionFailed,
        .connectionLost: .networkConnectionLost,
        .malformedResponse: .badServerResponse,
        .timedOut: .timedOut,
        .cancelled: .cancelled,
        .bodyTooLarge: .dataLengthExceedsMaximum,
        .tooManyRedirects: .httpTooManyRedirects,
        .credentialsUnavailable: .userAuthenticationRequired,
        // An answer that did not fit its route: the script has an issue already.
        .unmatched: .resourceUnavailable,
    ]
}
