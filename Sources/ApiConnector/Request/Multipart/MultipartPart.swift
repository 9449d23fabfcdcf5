// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// One part of a form in `multipart/form-data`: a field, or a file.
public struct MultipartPart: Sendable {
    /// The field's name.
    ///
    /// Written as browsers do (the WHATWG's HTML standard, "multipart/form-data encoding algorithm"): every line break
    /// is CR LF, then `"` is `%22`, CR is `%0D` and LF is `%0A`. A name with NUL fails the call.
    public var name: String

    /// The file's name; nil for a field that is no file.
    ///
    /// Written as ``name`` is, but its line breaks are kept apart.
    public var fileName: String?

    /// What the part is; nil sends no `Content-Type`, which a server takes for a text in UTF-8.
    public var mediaType: MediaType?

    /// More header fields; a `Content-Type` here wins over ``mediaType``, a `Content-Disposition` is left out.
    public var headers: HTTPHeaders

    /// What it holds.
    public var body: RequestBody

    /// Makes a part of a body of any kind.
    ///
    /// - Parameters:
    ///   - body: What it holds: bytes, a value as JSON, a file, a stream, another form.
    ///   - name: The field's name.
    ///   - fileName: The file's name; nil, for no file, by default.
    ///   - headers: More header fields; none by default.
    public init(
        _ body: RequestBody,
        name: String,
        fileName: String? = nil,
        headers: HTTPHeaders = HTTPHeaders()
    ) {
        self.name = name
        self.fileName = fileName
        self.mediaType = body.mediaType
        self.headers = headers
        self.body = body
    }

    /// A text, byte for byte as it is, in UTF-8 and without a `Content-Type`, as browsers send fields.
    public static func text(_ text: String, name: String) -> MultipartPart {
        var part = MultipartPart(.text(text), name: name)
        part.mediaType = nil
        return part
    }

    /// Bytes; no file, and `application/octet-stream`, by default.
    public static func data(
        _ data: Data,
        name: String,
        fileName: String? = nil,
        mediaType: MediaType = .octetStream
    ) -> MultipartPart {
        MultipartPart(.data(data, mediaType: mediaType), name: name, fileName: fileName)
    }

    /// A value as JSON, encoded by the connection's encoder; `application/json` by default.
    public static func json(
        _ value: some Encodable & Sendable,
        name: String,
        mediaType: MediaType = .json
    ) -> MultipartPart {
        MultipartPart(.json(value, mediaType: mediaType), name: name)
    }

    /// JSON without a model, such as a literal whose values have different types; `application/json` by default.
    public static func json(_ value: JSONValue, name: String, mediaType: MediaType = .json) -> MultipartPart {
        MultipartPart(.json(value, mediaType: mediaType), name: name)
    }

    /// A file, read while it is sent; under its own name, and `application/octet-stream`, by default.
    public static func file(
        _ file: URL,
        name: String,
        fileName: String? = nil,
        mediaType: MediaType = .octetStream
    ) -> MultipartPart {
        MultipartPart(.file(file, mediaType: mediaType), name: name, fileName: fileName ?? file.lastPathComponent)
    }
}

extension MultipartPart {
    /// The part's header fields, in the order in which they are sent.
    var fields: HTTPHeaders {
        var disposition = "form-data; name=\"\(Self.escaped(Self.withNetworkLineBreaks(name)))\""
        if let fileName { disposition += "; filename=\"\(Self.escaped(fileName))\"" }
        var fields: HTTPHeaders = [.contentDisposition: disposition]
        if let mediaType, !headers.contains(.contentType) { fields.append(.contentType, mediaType.description) }
        for field in Array(headers) + headers.refused where field.name != .contentDisposition {
            fields.append(field.name, field.value)
        }
        return fields
    }

    /// The same part with its body encoded.
    ///
    /// - Throws: ``ApiConnectorError`` of kind `.encodingFailed` where it cannot be sent.
    func encoded(with encoder: JSONEncoder) throws(ApiConnectorError) -> MultipartPart {
        if let field = fields.refused.first {
            let what = field.name == .contentDisposition ? "its name" : "its header field \(field.name)"
            throw failure(
                .encodingFailed,
                "\(what) cannot be sent: it contains a control character, or its name is not a token of RFC 9110"
            )
        }
        var part = self
        do throws(ApiConnectorError) {
            part.body = try body.encoded(with: encoder)
        } catch {
            throw failure(error.kind, error.detail, underlying: error.underlying)
        }
        return part
    }

    private func failure(
        _ kind: ApiConnectorError.Kind,
        _ detail: String,
        underlying: (any Error)? = nil
    ) -> ApiConnectorError {
        let name = ApiConnectorError.sentence(name)
        return ApiConnectorError(kind, at: .request, "the part \"\(name)\": \(detail)", underlying: underlying)
    }

    private static func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == 10 || $0 == 13 || $0 == UInt8(ascii: "\"") }) else { return text }
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 10: bytes += "%0A".utf8
            case 13: bytes += "%0D".utf8
            case UInt8(ascii: "\""): bytes += "%22".utf8
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// CR LF for each CR LF, lone CR and lone LF.
    private static func withNetworkLineBreaks(_ text: String) -> String {
        var bytes: [UInt8] = []
        var last: UInt8 = 0
        for byte in text.utf8 {
            switch byte {
            case 10 where last == 13: break
            case 10, 13: bytes += [13, 10]
            default: bytes.append(byte)
            }
            last = byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
