// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension Redactor {
    /// The place of a secret in a text, for custom redaction.
    package struct SecretPlace: Sendable, Hashable {
        /// The range of bytes in the text's UTF-8, counted from 0.
        package internal(set) var range: Range<Int>

        /// The quote required on both sides of a replacement.
        ///
        /// A JSON value without quotes, such as a number, is replaced by a string. The string needs the same quote as
        /// the key of the value: `"`, or `\"` if the JSON is itself within a JSON string. For any other value, the
        /// quote is empty.
        package internal(set) var quote: [UInt8] = []
    }

    /// The places of the secrets in a body, by the rules of ``redact(body:mediaType:)-(Data,_)``.
    ///
    /// ```swift
    /// var masked = Array(body)
    /// for place in redactor.secretPlaces(inBody: body).reversed() {
    ///     masked.replaceSubrange(place.range, with: place.quote + Array("***".utf8) + place.quote)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - bytes: The body or its beginning; it need not be text.
    ///   - mediaType: The media type of the body. If it is nil, the default, a form is recognized by how the text
    ///     begins.
    /// - Returns: The places in order, without overlaps.
    package func secretPlaces(inBody bytes: some Sequence<UInt8>, mediaType: MediaType? = nil) -> [SecretPlace] {
        let bytes = Array(bytes)
        return withValues(secretPlaces(in: bytes, place(of: bytes, mediaType)), in: bytes)
    }

    /// A body in UTF-16 or UTF-32, converted to UTF-8, in which its secrets can be found; nil for any other body.
    package static func inUTF8(_ body: some Collection<UInt8>, mediaType: MediaType?) -> [UInt8]? {
        WideForm(of: body, mediaType).map { Array($0.text(of: body).utf8) }
    }

    /// The places of the secrets in a URL, by the rules of ``redact(_:)-(URL)``.
    ///
    /// - Parameter text: The URL's text; any text is allowed.
    /// - Returns: The places in order, without overlaps.
    package func secretPlaces(inURL text: String) -> [SecretPlace] {
        let bytes = Array(text.utf8)
        let places = URLPart.parts(of: bytes).flatMap { part in
            secretPlaces(in: Array(part.bytes), part.place).map { $0.moved(by: part.bytes.startIndex) }
        }
        return withValues(places, in: bytes)
    }

    /// The places of the secrets in a header field's value, by the rules of ``redact(_:ofHeader:)``: a credential
    /// without its scheme, and the values of cookies.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - name: The name of the field.
    /// - Returns: The places in order, without overlaps.
    package func secretPlaces(inValue value: String, ofHeader name: HTTPHeaders.Name) -> [SecretPlace] {
        withValues(namedPlaces(inValue: value, ofHeader: name), in: Array(value.utf8))
    }

    /// Whether the value after a name in a text is secret: the name of a field in a body, or of a header field.
    package func isSecret(nameInText name: String) -> Bool {
        isSecret(field: name) || isSecret(headerInText: name)
    }

    /// Whether a member such as `"name": "password"` says that the object's `value` is secret.
    package func announcesSecret(_ name: String, _ value: String?) -> Bool {
        ["key", "name"].contains(SecretNames.normalized(name)) && value.map(isSecret(nameInText:)) ?? false
    }

    /// Whether the members of an object are those of a token endpoint's response: `access` and `refresh`.
    package static func areOfTokens(_ names: some Sequence<String>) -> Bool {
        SecretNames.tokenResponseNames.intersection(names.map(SecretNames.normalized)).count > 1
    }

    /// Whether a member of such an object is a token.
    package static func isToken(_ name: String) -> Bool {
        SecretNames.pairedTokenNames.contains(SecretNames.normalized(name))
    }

    private func namedPlaces(inValue value: String, ofHeader name: HTTPHeaders.Name) -> [SecretPlace] {
        let bytes = Array(value.utf8)
        switch name {
        case .wwwAuthenticate, "Proxy-Authenticate":
            return []
        case .setCookie:
            return cookiePlaces(value, hasAttributes: true)
        case .cookie:
            return cookiePlaces(value, hasAttributes: false)
        case .location, "Content-Location", "Referer":
            return SecretPlace.united(secretPlaces(inURL: value) + secretPlaces(in: bytes, .text))
        case _ where isSecret(header: name):
            let start = Self.credentialStart(in: value)
            return start < bytes.count ? [SecretPlace(range: start..<bytes.count)] : []
        default:
            return secretPlaces(in: bytes, .text)
        }
    }

    /// Adds the places of the known secret values.
    private func withValues(_ places: [SecretPlace], in bytes: [UInt8]) -> [SecretPlace] {
        guard let values else { return places }
        return SecretPlace.united(places + values.places(in: bytes))
    }

    func secretPlaces(in bytes: [UInt8], _ place: SecretText.Place) -> [SecretPlace] {
        guard SecretText.mayHoldSecrets(bytes) else { return [] }
        var scanner = SecretScanner(bytes, in: place, redactor: self)
        return scanner.places()
    }

    /// The bytes without their secrets; nil if there are none.
    ///
    /// - Parameter limit: The number of bytes of the original to return; all by default. A secret that begins within
    ///   them is replaced, even if the text says that it is secret only after them.
    func redacted(_ bytes: [UInt8], at places: [SecretPlace], upTo limit: Int = .max) -> [UInt8]? {
        guard !places.isEmpty else { return nil }
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var copied = 0
        for place in places where place.range.lowerBound < limit {
            output += bytes[copied..<place.range.lowerBound]
            output += place.quote + Self.replacement.utf8 + place.quote
            copied = place.range.upperBound
        }
        return output + bytes[copied..<max(copied, min(limit, bytes.count))]
    }

    /// The values of cookies.
    ///
    /// Parts that are neither a cookie nor a known attribute are also secret.
    private func cookiePlaces(_ value: String, hasAttributes: Bool) -> [SecretPlace] {
        let bytes = Array(value.utf8)
        // Foundation may have joined several `Set-Cookie` fields with commas. A part between two semicolons can then
        // contain the last attribute of one field and the cookie of the next field, so the whole value is secret.
        if hasAttributes, SetCookie.fields(in: value).count > 1 { return [SecretPlace(range: 0..<bytes.count)] }
        var places: [SecretPlace] = []
        for (index, part) in bytes.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).enumerated() {
            let text = part.trimmed
            if hasAttributes, index > 0, isCookieAttribute(Substring(String(decoding: text, as: UTF8.self))) {
                continue
            }
            let isPair = index == 0 || !hasAttributes
            let equals = isPair ? text.firstIndex(of: UInt8(ascii: "=")) : nil
            let content = text[(equals.map { $0 + 1 } ?? text.startIndex)...]
            if !content.isEmpty { places.append(SecretPlace(range: content.startIndex..<content.endIndex)) }
        }
        return places
    }
}

extension Redactor.SecretPlace {
    fileprivate func moved(by distance: Int) -> Self {
        Self(range: range.lowerBound + distance..<range.upperBound + distance, quote: quote)
    }

    /// The places in order, with overlapping places combined.
    ///
    /// A place that contains another one keeps its quote.
    static func united(_ places: [Self]) -> [Self] {
        let isSorted = zip(places, places.dropFirst()).allSatisfy { $0.range.upperBound <= $1.range.lowerBound }
        if isSorted { return places }
        return places.sorted { $0.range.lowerBound < $1.range.lowerBound }.unitingOverlaps(of: \.range)
    }
}

extension ArraySlice<UInt8> {
    /// The slice without blanks at both ends.
    fileprivate var trimmed: Self {
        let start = firstIndex { !SecretText.isBlank($0) } ?? endIndex
        let end = lastIndex { !SecretText.isBlank($0) }.map { $0 + 1 } ?? start
        return self[start..<Swift.max(start, end)]
    }
}

/// Known secret values, which are replaced wherever a text quotes them.
final class SecretValues: Sendable, Hashable {
    private let values: Set<[UInt8]>
    private let search: SecretSearch
    /// The length of the longest value in bytes.
    private let maximumByteCount: Int

    /// Returns nil if no value is long enough to be replaced; see ``isTelling(_:)``.
    init?(_ values: some Sequence<[UInt8]>) {
        let values = Set(values.filter(Self.isTelling))
        guard let longest = values.map(\.count).max() else { return nil }
        self.values = values
        search = SecretSearch(Array(values))
        maximumByteCount = longest
    }

    /// The values of both collections.
    static func joining(_ one: SecretValues?, _ other: SecretValues?) -> SecretValues? {
        guard let one, let other, one != other else { return one ?? other }
        return SecretValues(one.values.union(other.values))
    }

    /// Whether a value is replaced wherever it occurs.
    ///
    /// A value of 8 bytes or more is replaced, because common policies require passwords of this length. A value of 6
    /// or 7 bytes is replaced if it mixes letters with other characters, such as `hunter2`. A shorter value may be a
    /// word or a number that a text contains by chance.
    static func isTelling(_ value: [UInt8]) -> Bool {
        guard value.count < 8 else { return true }
        let letterCount = value.count { 0x61...0x7A ~= $0 | 0x20 }
        return value.count >= 6 && letterCount > 0 && letterCount < value.count
    }

    /// The bytes with all values replaced.
    ///
    /// - Parameter byteCount: The number of bytes to include; a value that begins within them may end after them. All
    ///   bytes by default.
    func masked(_ bytes: some Collection<UInt8>, upTo byteCount: Int = .max) -> [UInt8] {
        // In JSON, each byte of a value can take up to six bytes.
        let (limit, isOverflowing) = byteCount.addingReportingOverflow(6 * maximumByteCount)
        let bytes = Array(bytes.prefix(isOverflowing ? .max : limit))
        let end = min(byteCount, bytes.count)
        var masked: [UInt8] = []
        var copied = 0
        for (range, _) in search.findings(in: bytes) where range.lowerBound < end {
            masked += bytes[copied..<range.lowerBound] + Array(Redactor.replacement.utf8)
            copied = range.upperBound
        }
        if copied < end { masked += bytes[copied..<end] }
        return masked
    }

    /// The places of the values, in order and without overlaps.
    func places(in bytes: [UInt8]) -> [Redactor.SecretPlace] {
        search.findings(in: bytes).map { Redactor.SecretPlace(range: $0.range) }
    }

    static func == (left: SecretValues, right: SecretValues) -> Bool { left.values == right.values }

    func hash(into hasher: inout Hasher) { hasher.combine(values) }
}
