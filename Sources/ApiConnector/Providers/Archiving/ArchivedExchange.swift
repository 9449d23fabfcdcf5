// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A snapshot of an exchange in an ``ExchangeArchive``, with every secret replaced.
///
/// The redacted properties, such as ``url`` and ``body``, are computed at each access.
public struct ArchivedExchange: Sendable {
    /// The beginning of a body.
    public struct Body: Sendable {
        /// The bytes, up to the archive's limit, with secrets replaced.
        ///
        /// If a response's body has not arrived completely, only its complete lines are included, because its end may
        /// cut off a secret.
        public let bytes: Data
        /// The size of the body so far, in bytes; nil for a streamed request body of unknown length.
        public let byteCount: Int?
        /// Whether the body has more bytes than ``bytes``.
        public let isTruncated: Bool
        /// The media type; nil if unknown.
        public let mediaType: MediaType?
    }

    private let snapshot: ArchiveEntry.Snapshot
    private let redactor: Redactor
    private let bodyByteCount: Int

    init(_ snapshot: ArchiveEntry.Snapshot, _ redactor: Redactor, _ bodyByteCount: Int) {
        self.snapshot = snapshot
        self.redactor = redactor
        self.bodyByteCount = bodyByteCount
    }

    /// The number of the exchange in its archive, counted from 1.
    public var number: Int { snapshot.number }

    /// The ID of the call, which all its attempts and redirects share.
    public var call: CallID {
        var request = snapshot.request
        return request.callID()
    }

    /// The number of the attempt, counted from 1.
    public var attempt: Int { snapshot.request.attempt }

    /// The name of the route; nil for a request without a route.
    public var routeName: String? { snapshot.request.routeName }

    /// When the exchange began, by the wall clock.
    public var started: Date { snapshot.started }

    /// How long the exchange took, or has taken so far.
    public var elapsed: Duration { snapshot.elapsed }

    /// How the exchange ended; nil while it is running.
    public var outcome: CallEvent.Outcome? { snapshot.outcome }

    /// The times of the phases; nil if the transport does not measure them.
    public var times: TransportTimes? { snapshot.timesRecord?.times }

    /// The time until the response's head arrived; nil if none arrived.
    public var headTime: Duration? { snapshot.headTime }

    /// The method.
    public var method: HTTPMethod { snapshot.request.method }

    /// The URL as text.
    public var url: String { fullRedactor.redact(snapshot.request.url) }

    /// The request's header fields.
    public var headers: HTTPHeaders { fullRedactor.redact(snapshot.request.headers) }

    /// The request's body; nil if there is none.
    ///
    /// If ``DataRequestType/compressingBodies(from:)`` has compressed it, this is the body before the compression. The
    /// bytes of any other compressed body are left out.
    public var body: Body? {
        guard snapshot.body?.isEmpty != true else { return nil }
        let bytes = snapshot.body ?? Data()
        let mediaType = snapshot.request.headers[.contentType].flatMap { MediaType($0) }
        return body(bytes, of: snapshot.byteCount, mediaType ?? snapshot.mediaType, isWhole: true)
    }

    /// The response's status; nil if no response arrived.
    public var status: HTTPStatus? { snapshot.head?.status }

    /// The response's header fields.
    public var responseHeaders: HTTPHeaders { snapshot.head.map { fullRedactor.redact($0.headers) } ?? HTTPHeaders() }

    /// The response's body; nil if no response arrived.
    public var responseBody: Body? {
        guard let head = snapshot.head else { return nil }
        let isWhole = if case .answered = snapshot.outcome { true } else { false }
        let mediaType = head.headers[.contentType].flatMap { MediaType($0) }
        return body(snapshot.responseBody, of: snapshot.responseByteCount, mediaType, isWhole: isWhole)
    }

    /// The error's kind and detail; nil if the exchange did not fail.
    public var failure: String? {
        guard case .failed(let error) = snapshot.outcome else { return nil }
        return fullRedactor.redact(text: "\(error.kind): \(error.detail)")
    }

    /// The request as a `curl` command, with the bytes of ``body``; see ``ApiRequest/curlCommand(redacting:)``.
    ///
    /// Without a body if the archive has not kept it: a streamed one, or one that the caller has compressed.
    public var curlCommand: String {
        var request = snapshot.request
        if let body, !body.bytes.isEmpty {
            request.body = .data(body.bytes, mediaType: body.mediaType ?? .octetStream)
        }
        return request.curlCommand(redacting: fullRedactor)
    }

    private var fullRedactor: Redactor {
        var request = snapshot.request
        if let body = snapshot.body { request.body = .data(body) }
        var full = request.redactor(from: redactor)
        if snapshot.asksForTokens { full.expectTokens() }
        full.values = .joining(full.values, snapshot.hiddenSecrets)
        return full
    }

    private func body(_ bytes: Data, of byteCount: Int?, _ mediaType: MediaType?, isWhole: Bool) -> Body {
        var bytes = bytes
        if !isWhole, byteCount == bytes.count {
            bytes = bytes.prefix(bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 - bytes.startIndex + 1 } ?? 0)
        }
        return Body(
            bytes: fullRedactor.redacted(prefixOf: bytes, byteCount: bodyByteCount, mediaType: mediaType),
            byteCount: byteCount,
            isTruncated: bytes.count > bodyByteCount || byteCount != bytes.count,
            mediaType: mediaType
        )
    }
}
