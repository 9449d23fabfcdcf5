// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// The secrets in a request: their names, their values, and the redactors that know them.

extension ApiRequest {
    /// Adds names of header fields and query items whose values are secret in all texts about this request.
    ///
    /// Call it in a wrapper before it adds a credential under a name that ``Redactor/standard`` does not know. Errors,
    /// logs and recordings then redact the values. Caches treat the values as credentials, and so do redirects to
    /// another origin.
    ///
    /// - Parameters:
    ///   - headerNames: Names of header fields; none by default.
    ///   - queryItemNames: Names of query items; none by default.
    public mutating func addSecretNames(headerNames: [HTTPHeaders.Name] = [], queryItemNames: [String] = []) {
        ownSecrets = .joining(ownSecrets, OwnSecrets(headerNames: headerNames, queryItemNames: queryItemNames))
        applyGuard()
    }

    /// Makes a redactor that also knows this request's own secrets.
    ///
    /// It knows the names of the header fields and query items of the credential. It also knows the secret values in
    /// the request, and replaces them where a server quotes them.
    ///
    /// It collects values from the header fields, the URL, and a body or a part of a multipart form in memory of up to
    /// 64 KiB. A value is secret because of its name or its form. Examples are credentials, cookies, query
    /// items, user info, and fields of JSON and forms.
    ///
    /// It replaces a value anywhere, also percent-encoded, JSON-escaped or in base64, if the value has:
    ///
    /// - 8 bytes or more, or
    /// - 6 or 7 bytes that mix letters with other characters.
    ///
    /// It replaces a shorter value only after the value's name.
    ///
    /// For a request of a credential refresh, and for a request with a `grant_type` (RFC 6749), it also treats the
    /// strings in the JSON of the response as secret.
    ///
    /// - Parameters:
    ///   - redactor: The redactor to extend: ``Redactor/standard``, or a redactor with your own names.
    ///   - includesValues: Whether it also knows the values; true by default. Pass false in code that runs in every
    ///     call.
    /// - Complexity: O(*n*) in the size of header fields, URL and body; O(1) without the values.
    public func redactor(from redactor: Redactor, includingValues includesValues: Bool = true) -> Redactor {
        var redactor = ownSecrets?.added(to: redactor) ?? redactor
        if includesValues {
            if asksForTokens { redactor.expectTokens() }
            redactor.values = .joining(redactor.values, secretValues(known: redactor))
        }
        return redactor
    }

    /// The parts that identify the caller: header fields, query items and user info that the request's redactor treats
    /// as secret, by their names or by the form of their values.
    ///
    /// Two requests with equal parts have the same credentials. A wrapper that returns one caller's response to another
    /// caller compares these parts. They contain the secrets in plain text, so never store or log them.
    public var credentialParts: [String] {
        let redactor = redactor
        var parts: [String] = []
        for field in headers where redactor.isSecret(field) {
            parts.append("\(field.name.rawValue.lowercased()):\(field.value)")
        }
        if parts.count > 1 { parts.sort() }
        // Most URLs have no query and no user info. Foundation takes a microsecond to say so.
        var (hasQuery, hasUserInfo) = (false, false)
        url.absoluteString.withUTF8Bytes { text in
            guard let start = text.baseAddress else { return }
            hasQuery = memchr(start, Int32(UInt8(ascii: "?")), text.count) != nil
            hasUserInfo = memchr(start, Int32(UInt8(ascii: "@")), text.count) != nil
        }
        if hasQuery, let query = url.query(percentEncoded: true) {
            let items = query.utf8.split(separator: UInt8(ascii: "&")).map { Substring($0) }
            parts += items.filter { redactor.isSecret(encodedItem: $0) }.map { "?\($0)" }.sorted()
        }
        if hasUserInfo {
            let userInfo = [url.user(percentEncoded: true), url.password(percentEncoded: true)]
            parts += userInfo.compactMap { $0 }.map { "@\($0)" }
        }
        return parts
    }

    /// The request before the library compressed its body, without the `Content-Encoding`.
    ///
    /// Texts and recordings use it, because no secret can be found in compressed bytes.
    package var uncompressed: ApiRequest {
        guard let original = body.original else { return self }
        var request = self
        request.body = original
        request.headers.remove(.contentEncoding)
        return request
    }

    /// Whether the caller has compressed the body, so that no secret can be found in its bytes.
    var hasCompressedBody: Bool { !body.isEmpty && headers.nameCompression }
}

extension RequestState {
    /// Names of secrets that the standard redactor does not know.
    struct Secrets: Sendable { fileprivate var names: OwnSecrets? }
}

extension ApiRequest {
    /// Names of secrets in this request that the standard redactor does not know; nil for none.
    fileprivate(set) var ownSecrets: OwnSecrets? {
        get { state.storage?.parts.secrets.names }
        set { if newValue !== ownSecrets { state.change { $0.secrets.names = newValue } } }
    }

    /// Adds the names of a credential, or of another request.
    mutating func add(_ secrets: OwnSecrets?) { ownSecrets = .joining(ownSecrets, secrets) }

    /// The redactor that knows the names of the request's secrets.
    var redactor: Redactor { ownSecrets?.redactor ?? .standard }

    /// The redactor for texts about the request and its response.
    ///
    /// It knows the names of secrets and the request's secret values.
    ///
    /// Each access searches the request for the values, so use it only for errors and logs, not in every call.
    var textRedactor: Redactor { redactor(from: .standard) }

    /// Whether the response has tokens: the request is or was part of a credential refresh, or its body or its query
    /// has a `grant_type` (RFC 6749).
    var asksForTokens: Bool {
        let body = uncompressed.body
        if isCredentialRefresh || values.credentialRefreshes.wasMarked { return true }
        let items = (url.query(percentEncoded: true) ?? "").split(separator: "&").map { $0.prefix { $0 != "=" } }
        if items.contains(where: { Self.grantNames.contains(String($0)) })
            || body.parts.contains(where: { Self.grantNames.contains($0.name) })
        {
            return true
        }
        guard let data = body.searchableData else { return false }
        return Self.grantNames.contains { name in
            // `grant_types` is a field of a client's registration.
            data.ranges(of: Data(name.utf8)).contains { range in
                range.upperBound < data.endIndex && !ByteSet.alphanumerics.contains(data[range.upperBound])
            }
        }
    }

    private static let grantNames = ["grant_type", "grantType"]

    /// The secret values in the request, recognized by their names or their forms.
    ///
    /// They come from header fields, from the URL, and from a body or a part of a multipart form in memory of up to
    /// 64 KiB. The host is not a secret, even if a cookie contains it. A placeholder that starts with
    /// ``Redactor/replacement`` is not a secret.
    func secretValues(known redactor: Redactor) -> SecretValues? {
        var finder = SecretValueFinder(redactor: redactor)
        for field in headers { finder.note(field) }
        finder.note(url)
        finder.note(uncompressed.body, headers[.contentType].flatMap { MediaType($0) } ?? body.mediaType)
        let host = Array((url.host() ?? "").utf8)
        let placeholder = Array(Redactor.replacement.utf8)
        return SecretValues(finder.values.filter { !host.hasSuffix($0) && !$0.starts(with: placeholder) })
    }
}

/// Names of secrets in one request that the standard redactor does not know: those of its credential.
final class OwnSecrets: Sendable {
    private let headerNames: [HTTPHeaders.Name]
    private let queryItemNames: [String]
    /// The standard redactor with these names.
    fileprivate let redactor: Redactor

    /// Returns nil if the standard redactor knows the names.
    init?(headerNames: [HTTPHeaders.Name] = [], queryItemNames: [String] = []) {
        let headerNames = headerNames.filter { !Redactor.standard.isSecret(header: $0) }
        let queryItemNames = queryItemNames.filter { !Redactor.standard.isSecret(queryItem: $0) }
        guard !headerNames.isEmpty || !queryItemNames.isEmpty else { return nil }
        self.headerNames = headerNames
        self.queryItemNames = queryItemNames
        self.redactor = Self.adding(headerNames, queryItemNames, to: .standard)
    }

    /// The names of both; nil if there are none.
    static func joining(_ one: OwnSecrets?, _ other: OwnSecrets?) -> OwnSecrets? {
        guard let one, let other, one !== other else { return one ?? other }
        let headerNames = other.headerNames.filter { !one.headerNames.contains($0) }
        let queryItemNames = other.queryItemNames.filter { !one.queryItemNames.contains($0) }
        if headerNames.isEmpty, queryItemNames.isEmpty { return one }
        return OwnSecrets(
            headerNames: one.headerNames + headerNames,
            queryItemNames: one.queryItemNames + queryItemNames
        )
    }

    /// Each name is secret in header fields, query items and bodies, because a server that echoes a request may put it
    /// anywhere.
    private static func adding(
        _ headerNames: [HTTPHeaders.Name],
        _ queryItemNames: [String],
        to redactor: Redactor
    ) -> Redactor {
        var redactor = redactor
        let names = headerNames.map(\.rawValue) + queryItemNames
        redactor.add(headerNames: names.map { HTTPHeaders.Name($0) }, queryItemNames: names, bodyFieldNames: names)
        return redactor
    }

    fileprivate func added(to redactor: Redactor) -> Redactor {
        Self.adding(headerNames, queryItemNames, to: redactor)
    }
}

extension HTTPHeaders {
    /// Whether a content coding compresses the body; an unknown coding may.
    package var nameCompression: Bool {
        guard contains(.contentEncoding) else { return false }
        return elements(.contentEncoding).contains { !Self.uncompressed.contains($0.lowercased()) }
    }

    /// Codings that leave the bytes readable, that encrypt them, and a charset in the wrong field.
    private static let uncompressed: Set<String> = ["identity", "aws-chunked", "amz-1.0", "aes128gcm", "utf-8"]
}

extension [UInt8] {
    fileprivate func hasSuffix(_ other: [UInt8]) -> Bool { suffix(other.count).elementsEqual(other) }
}

extension RequestBody {
    /// The maximum size of a body that is searched.
    private static let maximumSearchedByteCount = 64 * 1024

    /// The bytes of a body in memory of up to 64 KiB, converted from UTF-16 or UTF-32; nil for any other body, and for an
    /// empty one.
    fileprivate var searchableData: Data? {
        guard source == nil, (byteCount ?? 0) <= Self.maximumSearchedByteCount, let data = try? data(),
            !data.isEmpty, data.count <= Self.maximumSearchedByteCount
        else { return nil }
        return Redactor.inUTF8(data, mediaType: mediaType).map { Data($0) } ?? data
    }
}

/// Collects the secret values of a request.
private struct SecretValueFinder {
    let redactor: Redactor
    private(set) var values: Set<[UInt8]> = []

    init(redactor: Redactor) {
        self.redactor = redactor
    }

    mutating func note(_ field: HTTPHeaders.Field) {
        let bytes = Array(field.value.utf8)
        for place in redactor.secretPlaces(inValue: field.value, ofHeader: field.name) {
            note(bytes[place.range])
            let value = String(decoding: bytes[place.range], as: UTF8.self)
            // A credential can have parts: `Credential=…, Signature=…`.
            let parts = Array(value.utf8)
            for part in redactor.secretPlaces(inBody: parts) { note(parts[part.range]) }
            if let secret = BasicCredentials.secret(in: value) { note(Array(secret.utf8)[...]) }
        }
    }

    mutating func note(_ url: URL) {
        let text = url.absoluteString
        let bytes = Array(text.utf8)
        for place in redactor.secretPlaces(inURL: text) { note(bytes[place.range]) }
        guard let user = url.user(percentEncoded: true) else { return }
        let password = url.password(percentEncoded: true) ?? ""
        note(Array((password.isEmpty ? user : password).utf8)[...])
    }

    mutating func note(_ body: RequestBody, _ mediaType: MediaType?) {
        for part in body.parts {
            if redactor.isSecret(queryItem: part.name), let data = part.body.searchableData { note(Array(data)[...]) }
            note(part.body, part.body.mediaType)
        }
        guard let data = body.searchableData else { return }
        let bytes = Array(data)
        for place in redactor.secretPlaces(inBody: bytes, mediaType: mediaType) {
            let value = bytes[place.range]
            if value.first.map(SecretText.isBracket) == true {
                noteStrings(in: value)
            } else {
                note(value)
            }
        }
    }

    /// Collects the strings in an object or an array.
    private mutating func noteStrings(in json: ArraySlice<UInt8>) {
        guard let value = try? JSONValue(json: Data(json)) else { return note(json) }
        var values = [value]
        while let value = values.popLast() {
            switch value {
            case .string(let text): note(Array(text.utf8)[...])
            case .array(let elements): values += elements
            case .object(let members): values += members.values
            case .number(let number): note(Array(number.description.utf8)[...])
            case .null, .bool: break
            }
        }
    }

    /// Collects a value, both encoded as in the request and decoded.
    private mutating func note(_ value: ArraySlice<UInt8>) {
        let isQuoted = value.count > 1 && value.first == UInt8(ascii: "\"") && value.last == UInt8(ascii: "\"")
        let value = Array(isQuoted ? value.dropFirst().dropLast() : value)
        values.formUnion(TextReading.decodedOnce(value))
        // In a form, a plus sign means a space.
        if value.contains(UInt8(ascii: "+")) {
            values.formUnion(TextReading.decodedOnce(value.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }))
        }
    }
}
