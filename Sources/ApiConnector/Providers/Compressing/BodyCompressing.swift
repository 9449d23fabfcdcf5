// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Compresses request bodies with gzip; made by ``DataRequestType/compressingBodies(from:)``.
struct BodyCompressing<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let minimumByteCount: Int
    private let refusing = RefusingOrigins()

    init(_ wrapped: Wrapped, from minimumByteCount: Int) {
        self.wrapped = wrapped
        self.minimumByteCount = minimumByteCount
    }

    /// Sends the request with its body compressed; again as it is, once, if the server answers 415.
    ///
    /// - Throws: What the wrapped provider throws.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        guard let compressed = try compressed(request) else { return try await wrapped.response(for: request) }
        let refusal = try await wrapped.response(for: compressed)
        guard refusal.status == 415 else { return refusal }
        // RFC 7694: the coding is not accepted, and the request was not carried out.
        refusal.discardBody()
        let response = try await wrapped.response(for: request)
        if response.status != 415, let origin = HTTPOrigin(request.url) { refusing.insert(origin) }
        return response
    }

    /// The request with its body compressed; nil where it is sent as it is.
    private func compressed(_ request: ApiRequest) throws(ApiConnectorError) -> ApiRequest? {
        guard !request.body.isEmpty, !request.body.isStreamed, !request.headers.contains(.contentEncoding),
            !request.headers.contains(.contentLength), let origin = HTTPOrigin(request.url), !refusing.contains(origin)
        else { return nil }
        let body = try request.body.data()
        guard body.count >= minimumByteCount, let packed = Gzip.compressed(body), packed.count < body.count else {
            return nil
        }
        var request = request
        request.body = .data(packed, mediaType: request.body.mediaType ?? .octetStream)
        request.headers[.contentEncoding] = "gzip"
        return request
    }
}

extension DataRequestType {
    /// This provider, sending request bodies compressed with gzip (`Content-Encoding: gzip`).
    ///
    /// Only for a backend that accepts them: most do not say so beforehand. A server that answers 415 is sent the body
    /// as it is, and no compressed one again.
    ///
    /// Sent as it is: a body below the limit, one that is streamed, one that does not get shorter, one that has a
    /// `Content-Encoding` already, and every body on a Linux system without `libz.so.1`. Put it outside of
    /// ``retrying(_:)``, so that a body is compressed once, and outside of a ``RequestSigner``, which signs what is
    /// sent.
    ///
    /// - Parameter minimumByteCount: The shortest body that is compressed, in bytes; 1 KiB by default.
    public func compressingBodies(from minimumByteCount: Int = 1024) -> some DataRequestType {
        BodyCompressing(self, from: minimumByteCount)
    }
}

/// The origins that accept no compressed bodies; at most 256.
private final class RefusingOrigins: Sendable {
    private let origins = Locked<Set<HTTPOrigin>>([])

    func contains(_ origin: HTTPOrigin) -> Bool { origins.withLock { $0.contains(origin) } }

    func insert(_ origin: HTTPOrigin) {
        origins.withLock { origins in
            if origins.count >= 256 { origins.removeFirst() }
            origins.insert(origin)
        }
    }
}
