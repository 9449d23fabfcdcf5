// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A request as errors and logs show it, with all secrets replaced.
public struct RequestSummary: Sendable, Hashable {
    /// The method.
    public let method: HTTPMethod

    /// The URL; user info and the values of secret query items are replaced.
    public let url: String

    /// The header fields; the values of secret fields are replaced.
    public let headers: HTTPHeaders

    /// The name of the route; nil for a request without a route.
    public let routeName: String?

    /// The number of the attempt, counted from 1.
    public let attempt: Int

    /// Makes the summary of a request.
    public init(_ request: ApiRequest) {
        self.init(request, nil)
    }

    /// - Parameter redactor: The request's redactor; created if nil.
    init(_ request: ApiRequest, _ redactor: Redactor?) {
        let redactor = redactor ?? request.textRedactor
        method = request.method
        url = redactor.redact(request.url)
        headers = redactor.redact(request.headers)
        routeName = request.routeName
        attempt = request.attempt
    }
}

extension RequestSummary: CustomStringConvertible {
    /// The method and the URL on one line, such as `GET https://api.example.com/me`.
    public var description: String { "\(method) \(url)" }
}

/// A response as errors show it: with all secrets replaced, and with the beginning of the body.
public struct ResponseSummary: Sendable, Hashable {
    /// The maximum number of body bytes that are kept: 1,024.
    public static let bodyPrefixByteCount = 1024

    /// The status.
    public let status: HTTPStatus

    /// The header fields; the values of secret fields are replaced.
    public private(set) var headers: HTTPHeaders

    /// The URL of the response; user info and the values of secret query items are replaced.
    public private(set) var url: String

    /// The first 1,024 bytes of the body as one line of text; the values of secret fields are replaced.
    ///
    /// For a body that is binary or in UTF-16, its length and type, such as `1234 bytes of image/png`.
    public private(set) var bodyPrefix: String

    /// Whether the body is longer than ``bodyPrefix``; false for a binary body.
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

    /// Whether the beginning of a body is not shown as text: its type is binary, it has a control character that text
    /// does not have, or it is in UTF-16 or UTF-32.
    private static func isBinary(_ prefix: Data, _ mediaType: MediaType?) -> Bool {
        if !prefix.isEmpty, Redactor.isWide(prefix, mediaType) { return true }
        guard !prefix.isEmpty, mediaType?.type != "text" else { return false }
        if let mediaType, ["audio", "font", "image", "video"].contains(mediaType.type) {
            return !mediaType.subtype.hasSuffix("xml")
        }
        // Allowed in text: tab to CR as white space, ESC for colors, RS as the start of a text in a JSON text sequence.
        return prefix.contains { $0 < 0x20 && !(0x09...0x0D ~= $0 || $0 == 0x1B || $0 == 0x1E) }
    }

    /// The same summary, redacted with another redactor as well.
    func redacted(by redactor: Redactor) -> ResponseSummary {
        var summary = self
        summary.headers = redactor.redact(headers)
        summary.url = redactor.redactValues(in: url)
        summary.bodyPrefix = redactor.redactValues(in: bodyPrefix)
        return summary
    }
}

extension String {
    /// The text as one line: each run of white space and control characters becomes a space.
    ///
    /// A terminal would obey control characters.
    var asOneLine: String {
        let words = unicodeScalars.split { $0.properties.isWhitespace || $0.properties.generalCategory == .control }
        return words.map { String($0) }.joined(separator: " ")
    }
}
