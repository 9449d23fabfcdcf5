// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The body of a request.
public struct RequestBody: Sendable {
    private enum Content: Sendable {
        case empty
        case data(Data)
        case compressed(Data, from: Data)
        case json(any Encodable & Sendable)
        case source(RequestBodySource)
        case form(FormBody)
        case multipart(MultipartBody)
    }

    private let content: Content

    /// The media type, sent as `Content-Type` unless the headers have this field; nil for an empty body.
    public let mediaType: MediaType?

    /// No body.
    public static let empty = RequestBody(content: .empty, mediaType: nil)

    /// Bytes; `application/octet-stream` by default.
    public static func data(_ data: Data, mediaType: MediaType = .octetStream) -> RequestBody {
        RequestBody(content: .data(data), mediaType: mediaType)
    }

    /// A text in UTF-8; `text/plain; charset=utf-8` by default.
    public static func text(_ text: String, mediaType: MediaType = .plainText) -> RequestBody {
        .data(Data(text.utf8), mediaType: mediaType)
    }

    /// A value as JSON, encoded with the connection's encoder when the request is built; `application/json` by default.
    public static func json(_ value: some Encodable & Sendable, mediaType: MediaType = .json) -> RequestBody {
        RequestBody(content: .json(value), mediaType: mediaType)
    }

    /// JSON without a model, for example a literal with values of different types; `application/json` by default.
    public static func json(_ value: JSONValue, mediaType: MediaType = .json) -> RequestBody {
        RequestBody(content: .json(value), mediaType: mediaType)
    }

    /// A value as `application/x-www-form-urlencoded`, like a web form, encoded when the request is built.
    public static func form(_ value: some Encodable & Sendable, as encoding: FormEncoding = .standard) -> RequestBody {
        RequestBody(content: .form(FormBody(value: value, encoding: encoding)), mediaType: .form)
    }

    /// Whether there is no body, as in ``empty``; false for a body of 0 bytes.
    public var isEmpty: Bool {
        if case .empty = content { true } else { false }
    }

    /// The length in bytes; nil for JSON and forms before they are encoded, and for a source of unknown length.
    public var byteCount: Int? {
        switch content {
        case .empty: 0
        case .data(let data), .compressed(let data, from: _): data.count
        case .json, .form: nil
        case .source(let source): source.byteCount
        case .multipart(let form): form.byteCount
        }
    }

    /// Whether the body can be sent again, by a retry or a redirect.
    public var isReplayable: Bool { source?.isReplayable ?? true }

    /// The source of a streamed body; nil for a body in memory.
    var source: RequestBodySource? {
        switch content {
        case .source(let source): source
        case .multipart(let form): form.source
        case .empty, .data, .compressed, .json, .form: nil
        }
    }

    /// The parts of a multipart form; none for any other body.
    var parts: [MultipartPart] {
        if case .multipart(let form) = content { form.parts } else { [] }
    }

    /// The bytes of a body in memory, for a transport.
    ///
    /// - Throws: ``ApiConnectorError`` of kind `.encodingFailed` if JSON or a form does not encode. For a streamed
    ///   body, it always throws; use ``send(to:)`` or ``collect(upTo:)``.
    public func data() throws(ApiConnectorError) -> Data {
        switch content {
        case .empty: Data()
        case .data(let data), .compressed(let data, from: _): data
        case .json(let value): try Self.encode(value, with: JSONEncoder())
        case .form(let form): try form.data(with: nil)
        case .source, .multipart:
            throw ApiConnectorError(
                .encodingFailed,
                at: .request,
                "the body is streamed and cannot be returned as one piece; collect(upTo:) reads it into memory"
            )
        }
    }

    /// The same body with its JSON or form encoded; throws if that fails, or if a file cannot be read.
    func encoded(with encoder: JSONEncoder) throws(ApiConnectorError) -> RequestBody {
        switch content {
        case .empty, .data, .compressed: return self
        case .source(let source):
            try source.check()
            return self
        case .json(let value):
            return RequestBody(content: .data(try Self.encode(value, with: encoder)), mediaType: mediaType)
        case .form(let form):
            return RequestBody(content: .data(try form.data(with: encoder)), mediaType: mediaType)
        case .multipart(let form):
            return RequestBody(content: .multipart(try form.encoded(with: encoder)), mediaType: mediaType)
        }
    }

    private static func encode(_ value: any Encodable, with encoder: JSONEncoder) throws(ApiConnectorError) -> Data {
        do {
            return try encoder.encode(value)
        } catch {
            throw ApiConnectorError(
                .encodingFailed,
                at: .request,
                "the body, a value of type \(type(of: value)), does not encode as JSON: \(CodingText.describe(error))",
                underlying: error
            )
        }
    }
}

extension RequestBody {
    /// Bytes that the library has compressed.
    init(compressed: Data, from original: Data, mediaType: MediaType) {
        self.init(content: .compressed(compressed, from: original), mediaType: mediaType)
    }

    /// The body before the library compressed it; nil if it did not.
    var original: RequestBody? {
        guard case .compressed(_, from: let data) = content else { return nil }
        return RequestBody(content: .data(data), mediaType: mediaType)
    }

    init(source: RequestBodySource, mediaType: MediaType) {
        self.init(content: .source(source), mediaType: mediaType)
    }

    init(multipart: MultipartBody) {
        self.init(content: .multipart(multipart), mediaType: multipart.mediaType)
    }
}
