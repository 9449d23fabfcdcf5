// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

// Converts between Foundation's values and the library's.

extension ApiRequest {
    /// Converts a session's request.
    ///
    /// A body stream is read on demand.
    ///
    /// - Parameter headers: The header fields of the session's configuration; the request's own fields take precedence.
    init(bridged request: URLRequest, headers: HTTPHeaders) throws(ApiConnectorError) {
        try self.init(request)
        #if canImport(FoundationNetworking)
        self.headers = headers.merging(self.headers)
        #endif
        delivery = .streamed
        // R8: on Apple's systems the body is a stream here, which can be read only once.
        guard body.isEmpty, let stream = request.httpBodyStream else { return }
        // Foundation gives the stream to this load alone, and only the closure below uses it.
        nonisolated(unsafe) let input = stream
        let type = self.headers[.contentType].flatMap { MediaType($0) } ?? .octetStream
        body = .stream(mediaType: type, isReplayable: false) {
            let end = Eventual<Result<Data, any Error>>()
            // The read needs its own thread, because it blocks while the writer is idle.
            Thread.detachNewThread { end.set(Result { try input.readAll() }) }
            // If the writer stays idle, the request's timeout or the end of its task ends the stream.
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
    /// The stream's bytes; an error if there are more than 64 MiB.
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
    /// The response's head for a session.
    ///
    /// Repeated fields are joined by commas.
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
    /// The code with which a session reports a failure; nil if there is no such code.
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
        // The answer did not match its route; the script already has an issue.
        .unmatched: .resourceUnavailable,
    ]
}
