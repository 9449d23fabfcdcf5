// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A response as an error shows it: with every secret replaced, and of the body the beginning.
public struct ResponseSummary: Sendable, Hashable {
    /// The most bytes of a body that are kept: 1,024.
    public static let bodyPrefixByteCount = 1024

    /// The status.
    public let status: HTTPStatus

    /// The header fields; the values of secret ones are replaced.
    public private(set) var headers: HTTPHeaders

    /// Where the response came from; user info and the values of secret query items are replaced.
    public private(set) var url: String

    /// The first 1,024 bytes of the body as one line of text; the values of secret fields are replaced.
    ///
    /// Of a binary body its length and type, such as `1234 bytes of image/png`.
    public private(set) var bodyPrefix: String

    /// Whether the body went on behind a text; false of a binary body.
    public let isBodyTruncated: Bool

    init(_ head: ResponseHead, body: Data, redactor: Redactor = .standard) {
        status = head.status
        headers = redactor.redact(head.headers)
        url = redactor.redact(head.url)
        let mediaType = head.headers[.contentType].flatMap { MediaType($0) }
        let byteCount = Self.bodyPrefixByteCount
        if Self.isBinary(body.prefix(byteCount), mediaType) {
            let type = mediaType.map { "\($0.type)/\($0.subtype)" } ?? "an unknown type"
            bodyPrefix = redactor.redactValues(in: "\(body.count) bytes of \(type)")
            isBodyTruncated = false
        } else {
            bodyPrefix = redactor.redact(prefixOf: body, byteCount: byteCount, mediaType: mediaType).asOneLine
            isBodyTruncated = body.count > byteCount
        }
    }

    /// Whether a body's beginning is not text: by its type, or by a control character that no text has.
    private static func isBinary(_ prefix: Data, _ mediaType: MediaType?) -> Bool {
        guard !prefix.isEmpty, mediaType?.type != "text" else { return false }
        if let mediaType, ["audio", "font", "image", "video"].contains(mediaType.type) {
            return !mediaType.subtype.hasSuffix("xml")
        }
        // Tab to CR separate words, ESC colors them, and RS begins a text of a JSON text sequence.
        return prefix.contains { $0 < 0x20 && !(0x09...0x0D ~= $0 || $0 == 0x1B || $0 == 0x1E) }
    }

    /// The same with what another redactor knows replaced, too.
    func redacted(by redactor: Redactor) -> ResponseSummary {
        var summary = self
        summary.headers = redactor.redact(headers)
        summary.url = redactor.redactValues(in: url)
        summary.bodyPrefix = redactor.redactValues(in: bodyPrefix)
        return summary
    }
}

extension String {
    /// The text with one space for each run of white space and of control characters, which a terminal would obey.
    var asOneLine: String {
        let words = unicodeScalars.split { $0.properties.isWhitespace || $0.properties.generalCategory == .control }
        return words.map { String($0) }.joined(separator: " ")
    }
}
