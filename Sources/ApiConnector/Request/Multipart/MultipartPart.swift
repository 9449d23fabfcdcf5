// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A part of a `multipart/form-data` form: a field or a file.
public struct MultipartPart: Sendable {
    /// The name of the field.
    ///
    /// It is written as browsers write it ("multipart/form-data encoding algorithm" in the WHATWG HTML standard). Every
    /// line break becomes CR LF; then `"` becomes `%22`, CR becomes `%0D` and LF becomes `%0A`. If the name contains
    /// any other control character except a tab, the call fails.
    public var name: String

    /// The name of the file; nil for a field that is not a file.
    ///
    /// It is written like ``name``, but its line breaks are not converted to CR LF.
    public var fileName: String?

    /// The media type of the part; nil sends no `Content-Type`.
    ///
    /// Servers read a part without this field as UTF-8 text.
    public var mediaType: MediaType?

    /// Additional header fields.
    ///
    /// A `Content-Type` overrides ``mediaType``, and a `Content-Disposition` is ignored.
    public var headers: HTTPHeaders

    /// The content of the part.
    public var body: RequestBody

    /// Makes a part with a body of any kind.
    ///
    /// - Parameters:
    ///   - body: The content: bytes, a value as JSON, a file, a stream or another form.
    ///   - name: The name of the field.
    ///   - fileName: The name of the file; nil, the default, for a field that is not a file.
    ///   - headers: Additional header fields; none by default.
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

    /// A text in UTF-8, unchanged and without a `Content-Type`, as browsers send fields.
    public static func text(_ text: String, name: String) -> MultipartPart {
        var part = MultipartPart(.text(text), name: name)
        part.mediaType = nil
        return part
    }

    /// Bytes; by default a field without a file name, with the media type `application/octet-stream`.
    public static func data(
        _ data: Data,
        name: String,
        fileName: String? = nil,
        mediaType: MediaType = .octetStream
    ) -> MultipartPart {
        MultipartPart(.data(data, mediaType: mediaType), name: name, fileName: fileName)
    }

    /// A value as JSON, encoded with the connection's encoder; `application/json` by default.
    public static func json(
        _ value: some Encodable & Sendable,
        name: String,
        mediaType: MediaType = .json
    ) -> MultipartPart {
        MultipartPart(.json(value, mediaType: mediaType), name: name)
    }

    /// JSON without a model, for example a literal with values of different types; `application/json` by default.
    public static func json(_ value: JSONValue, name: String, mediaType: MediaType = .json) -> MultipartPart {
        MultipartPart(.json(value, mediaType: mediaType), name: name)
    }

    /// A file, read while it is sent; by default with the last path component as its name, and
    /// `application/octet-stream` as its media type.
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
    /// The header fields of the part, in the order in which they are sent.
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

    /// The same part with an encoded body.
    ///
    /// - Throws: ``ApiConnectorError`` of kind `.encodingFailed` if the part cannot be sent.
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

    /// Converts each CR LF, single CR and single LF to CR LF.
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
