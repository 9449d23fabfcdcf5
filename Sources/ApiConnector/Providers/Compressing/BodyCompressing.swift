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

    /// Sends the request with a compressed body.
    ///
    /// If the server responds with 415, sends it again uncompressed.
    ///
    /// - Throws: The error of the wrapped provider.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        guard let compressed = try compressed(request) else { return try await wrapped.response(for: request) }
        let refusal = try await wrapped.response(for: compressed)
        guard refusal.status == 415 else { return refusal }
        // RFC 7694: 415 means that the server does not accept the coding and has not processed the request.
        refusal.discardBody()
        var request = request
        request.keepKeyAndAttempts(of: refusal.request)
        let response = try await wrapped.response(for: request)
        if response.status != 415, let origin = HTTPOrigin(request.url) { refusing.insert(origin) }
        return response
    }

    /// The request with a compressed body; nil if it is sent uncompressed.
    private func compressed(_ request: ApiRequest) throws(ApiConnectorError) -> ApiRequest? {
        guard !request.body.isEmpty, !request.body.isStreamed,
            !request.headers.contains(where: BodyFields.contains),
            let origin = HTTPOrigin(request.url), !refusing.contains(origin)
        else { return nil }
        let body = try request.body.data()
        guard body.count >= minimumByteCount, let packed = Gzip.compressed(body), packed.count < body.count else {
            return nil
        }
        var request = request
        request.body = RequestBody(
            compressed: packed,
            from: body,
            mediaType: request.body.mediaType ?? .octetStream
        )
        request.headers[.contentEncoding] = "gzip"
        return request
    }
}

extension DataRequestType {
    /// Returns a provider that compresses request bodies with gzip (`Content-Encoding: gzip`).
    ///
    /// Use it only for a backend that accepts compressed bodies; most backends do not announce this. After a 415, the
    /// provider sends the request again with an uncompressed body. If the server then responds with another status, the
    /// provider stops compressing bodies for this server.
    ///
    /// These bodies are sent uncompressed:
    ///
    /// - bodies shorter than the limit
    /// - streamed bodies
    /// - bodies that compression does not make smaller
    /// - bodies of requests with a `Content-Encoding` or `Content-Length` field
    /// - bodies of requests with a checksum of the body, such as `Content-Digest`, `Content-MD5`,
    ///   `X-Amz-Checksum-CRC32` or `X-Goog-Hash`
    /// - all bodies on a Linux system without `libz.so.1`
    ///
    /// Errors, logs, cURL commands, archives and recordings show the body as it was before the compression, with
    /// secrets replaced.
    ///
    /// Put it outside of ``retrying(_:)``, so that a body is compressed once. Put it outside of a provider with a
    /// ``RequestSigner``, so that the signature covers the compressed body.
    ///
    /// - Parameter minimumByteCount: The size from which bodies are compressed, in bytes; 1 KiB by default.
    public func compressingBodies(from minimumByteCount: Int = 1024) -> some DataRequestType {
        BodyCompressing(self, from: minimumByteCount)
    }
}

/// The header fields that would be wrong for the compressed bytes of a body.
private enum BodyFields {
    private static let names: Set<HTTPHeaders.Name> = [
        .contentEncoding, .contentLength, "Content-Digest", "Repr-Digest", "Digest", "Content-MD5", "X-Goog-Hash",
        "X-MS-Blob-Content-MD5", "X-MS-Content-SHA256", "X-MS-Content-CRC64", "X-Bz-Content-Sha1", "X-Content-SHA256",
        "X-Hub-Signature", "X-Hub-Signature-256",
    ]

    static func contains(_ field: HTTPHeaders.Field) -> Bool {
        // Only this value says that there is no checksum. A value such as STREAMING-… says that each chunk has one.
        if field.name == "X-Amz-Content-SHA256" { return field.value != "UNSIGNED-PAYLOAD" }
        return names.contains(field.name) || field.name.rawValue.lowercased().hasPrefix("x-amz-checksum-")
    }
}

/// The origins that do not accept compressed bodies; at most 256.
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
