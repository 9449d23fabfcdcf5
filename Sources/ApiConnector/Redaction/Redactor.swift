// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Replaces secrets in errors, logs, cURL commands and recordings.
///
/// It recognizes secrets by the names of header fields, query items and body fields, anywhere in a text. It also
/// recognizes user info in URLs, `Bearer …` and `Basic …`, JSON web tokens, and private keys in PEM format. Names are
/// compared without case and separators: `access_token`, `accessToken` and `Access-Token` are equal. If a name or the
/// end of a value is unclear, the redactor replaces more rather than less.
///
/// A header field is secret if a word of its name says so, such as `key`, `auth`, `token` or `license`, or if it is one
/// of the known fields without such a word, such as `X-Honeycomb-Team`. A number or a version at the end of a name does
/// not matter: `X-Token2` is secret like `X-Token`. A name that ends with `keys` is treated like its singular:
/// `access_keys` like `access_key`. A field under any name is a credential for redirects and caches if its whole value
/// has the form of one, such as `Bearer …`. Texts are redacted by more rules.
///
/// In the response to a credential refresh, and to a request with a `grant_type`, each string in JSON is secret whose
/// name is not known to be harmless, such as `scope`.
///
/// ``ApiRequest/redactor(from:includingValues:)`` makes a redactor that also knows the secrets of one request, and
/// replaces them where a server quotes them.
///
/// A redactor accepts any input and takes linear time.
public struct Redactor: Sendable, Hashable {
    /// The replacement of a secret.
    public static let replacement = "REDACTED"

    /// The redactor for all texts of the library.
    public static let standard = Redactor()

    private var headerNames: SecretNames
    private var queryItemNames: SecretNames
    private var bodyFieldNames: SecretNames
    /// Secrets that are replaced wherever they occur; nil if there are none.
    var values: SecretValues?
    /// Whether the redactor is for a request that asks for tokens, and for its response.
    ///
    /// In their JSON, each string is secret whose name is not known to be harmless, and so are bodies of one word.
    private(set) var isForTokens = false

    /// Makes a redactor that knows more names than ``standard``.
    ///
    /// - Parameters:
    ///   - headerNames: Names of header fields; none by default.
    ///   - queryItemNames: Names of items in a URL's query or fragment, or in a form; none by default.
    ///   - bodyFieldNames: Names of fields in JSON, forms and XML at any depth; none by default.
    public init(
        headerNames: [HTTPHeaders.Name] = [],
        queryItemNames: [String] = [],
        bodyFieldNames: [String] = []
    ) {
        self.headerNames = .headers
        self.queryItemNames = .queryItems
        self.bodyFieldNames = .bodyFields
        add(headerNames: headerNames, queryItemNames: queryItemNames, bodyFieldNames: bodyFieldNames)
    }

    /// Adds further names; see ``init(headerNames:queryItemNames:bodyFieldNames:)``.
    public mutating func add(
        headerNames: [HTTPHeaders.Name] = [],
        queryItemNames: [String] = [],
        bodyFieldNames: [String] = []
    ) {
        self.headerNames.add(headerNames.map(\.rawValue))
        self.queryItemNames.add(queryItemNames)
        self.bodyFieldNames.add(bodyFieldNames)
    }

    /// Treats the names of a token endpoint's response as secret, even if no word tells.
    mutating func expectTokens() {
        isForTokens = true
        bodyFieldNames.add(Array(SecretNames.pairedTokenNames))
    }

    /// Whether the value of a header field is secret.
    public func isSecret(header name: HTTPHeaders.Name) -> Bool {
        headerNames.contains(name.rawValue)
    }

    /// Whether the value of an item in a query, a fragment or a form is secret.
    public func isSecret(queryItem name: String) -> Bool {
        queryItemNames.contains(name) || bodyFieldNames.lists(name)
    }

    /// Whether the value of a field in JSON or XML is secret.
    public func isSecret(field name: String) -> Bool {
        bodyFieldNames.contains(name)
    }

    /// Whether a name in a text is that of a secret header field, but not of a secret field in a body.
    func isSecret(headerInText name: String) -> Bool {
        headerNames.containsHeader(name)
    }
}

extension Redactor {
    /// Redacts a text of any kind, such as a line of a log or an error's message.
    ///
    /// It finds:
    ///
    /// - the values of secret fields in JSON, forms, XML and header lines; the JSON may be within a string, or cut off
    /// - secrets in URLs
    /// - credentials after `Bearer` and `Basic`
    /// - JSON web tokens, and private keys in PEM format
    public func redact(text: String) -> String {
        redact(Array(text.utf8), in: .text).map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    /// Redacts a body or its beginning: the values of secret fields in JSON, forms, multipart forms, XML or text.
    ///
    /// Without a media type, a form is recognized by how the text begins.
    public func redact(body text: String, mediaType: MediaType? = nil) -> String {
        let bytes = Array(text.utf8)
        return redact(bytes, in: place(of: bytes, mediaType)).map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    /// Redacts a body whose bytes need not be text.
    ///
    /// A body in UTF-16 or UTF-32 that has a secret is replaced as a whole.
    public func redact(body: Data, mediaType: MediaType? = nil) -> Data {
        if hidesSecrets(in: body, mediaType) { return Data(Self.replacement.utf8) }
        let bytes = Array(body)
        return redact(bytes, in: place(of: bytes, mediaType)).map { Data($0) } ?? body
    }

    /// The redacted bytes; nil if there was nothing to replace.
    func redact(_ bytes: [UInt8], in place: SecretText.Place) -> [UInt8]? {
        let masked = values?.masked(bytes) ?? bytes
        return redacted(masked, at: secretPlaces(in: masked, place)) ?? (masked == bytes ? nil : masked)
    }

    /// Replaces the known secret values in a text, and applies no other rule.
    ///
    /// The library's own texts need this too, because they can quote the server.
    func redactValues(in text: String) -> String {
        values.map { String(decoding: $0.masked(text.utf8), as: UTF8.self) } ?? text
    }

    /// The redacted beginning of a body as text.
    func redact(prefixOf body: Data, byteCount: Int, mediaType: MediaType?) -> String {
        String(decoding: redacted(prefixOf: body, byteCount: byteCount, mediaType: mediaType), as: UTF8.self)
    }

    /// The redacted beginning of a body as bytes, which need not be text.
    ///
    /// The text is redacted before it is cut, because a name after a value may say that the value is secret, and a token
    /// that is cut off may be too short to be recognized.
    ///
    /// - Parameters:
    ///   - body: The body or its beginning. Pass ``marginByteCount`` more bytes than `byteCount` if there are more.
    ///   - byteCount: The number of bytes of the body to return.
    ///   - mediaType: The body's media type.
    func redacted(prefixOf body: Data, byteCount: Int, mediaType: MediaType?) -> Data {
        let (end, isOverflowing) = byteCount.addingReportingOverflow(Self.marginByteCount)
        let readByteCount = isOverflowing ? .max : end
        if hidesSecrets(in: body.prefix(readByteCount), mediaType) { return Data(Self.replacement.utf8) }
        let prefix = values?.masked(body, upTo: byteCount) ?? Array(body.prefix(byteCount))
        if isForTokens, !prefix.isEmpty, !prefix.contains(where: Self.bytesOfContainers.contains) {
            return Data(Self.replacement.utf8)
        }
        let read = values?.masked(body, upTo: readByteCount) ?? Array(body.prefix(readByteCount))
        let places = secretPlaces(in: read, place(of: read, mediaType))
        return Data(redacted(read, at: places, upTo: prefix.count) ?? prefix)
    }

    /// The number of bytes that are read after the returned bytes.
    static let marginByteCount = 8 * 1024

    /// A body without these bytes is one word, which may be a token.
    private static let bytesOfContainers = ByteSet(" {[<=&")

    func place(of bytes: [UInt8], _ mediaType: MediaType?) -> SecretText.Place {
        if let mediaType, mediaType.type == "application", mediaType.subtype == MediaType.form.subtype { return .form }
        let name = bytes.prefix { SecretText.isName($0) || $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }
        let isForm = !name.isEmpty && bytes.dropFirst(name.count).first == UInt8(ascii: "=")
        return isForm && !bytes.contains(UInt8(ascii: "\n")) ? .form : .text
    }
}

extension Redactor {
    /// Redacts a URL: user info, the values of secret items in the query and the fragment, and tokens in the path.
    ///
    /// It recognizes a token in the path by its form:
    ///
    /// - a JSON web token,
    /// - a bot token (`bot123456:AAE…`),
    /// - at least 32 hexadecimal digits, or
    /// - at least 32 random characters of base64.
    ///
    /// A port that is the default of the scheme is left out.
    public func redact(_ url: URL) -> String {
        redact(urlText: url.textWithoutDefaultPort)
    }

    /// Redacts a text that should be a URL, absolute or relative; any text is allowed.
    func redact(urlText text: String) -> String {
        let redacted = URLPart.parts(of: Array(text.utf8)).flatMap { part in
            redact(Array(part.bytes), in: part.place) ?? Array(part.bytes)
        }
        return String(decoding: redacted, as: UTF8.self)
    }
}

extension URL {
    /// The URL without a port that is the default of its scheme: the same URL as most people write it.
    var textWithoutDefaultPort: String {
        var text = absoluteString
        guard let port, let scheme = scheme.flatMap({ HTTPScheme(rawValue: $0.lowercased()) }),
            port == scheme.defaultPort, let start = text.range(of: "://")?.upperBound
        else { return text }
        let end = text[start...].firstIndex { "/?#".contains($0) } ?? text.endIndex
        let suffix = ":\(port)"
        guard text[start..<end].hasSuffix(suffix) else { return text }
        text.removeSubrange(text.index(end, offsetBy: -suffix.count)..<end)
        return text
    }
}

/// A part of a URL with its kind of text; the kind decides which characters end a value.
struct URLPart {
    let bytes: ArraySlice<UInt8>
    let place: SecretText.Place

    /// The part before the query, the query, and the fragment.
    static func parts(of bytes: [UInt8]) -> [URLPart] {
        let fragmentStart = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        let queryStart = bytes[..<fragmentStart].firstIndex(of: UInt8(ascii: "?")) ?? fragmentStart
        return [
            URLPart(bytes: bytes[..<queryStart], place: .path),
            URLPart(bytes: bytes[queryStart..<fragmentStart], place: .form),
            URLPart(bytes: bytes[fragmentStart...], place: .form),
        ]
    }
}
