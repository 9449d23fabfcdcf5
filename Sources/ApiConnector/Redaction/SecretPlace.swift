// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension Redactor {
    /// Where in a text a secret stands, for your own redaction.
    package struct SecretPlace: Sendable, Hashable {
        /// Its bytes in the text's UTF-8, counted from the text's first.
        package internal(set) var range: Range<Int>

        /// What has to stand on both sides of a text that takes its place.
        ///
        /// For a number of JSON, or whatever else stands there without quotes, it is the quote of its key, escaped as
        /// that is; for any other secret it is empty.
        package internal(set) var quote: [UInt8] = []
    }

    /// Where the secrets of a body stand, by the rules of ``redact(body:mediaType:)-(Data,_)``.
    ///
    /// ```swift
    /// var masked = Array(body)
    /// for place in redactor.secretPlaces(inBody: body).reversed() {
    ///     masked.replaceSubrange(place.range, with: place.quote + Array("***".utf8) + place.quote)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - bytes: The body, or its beginning; it need not be text.
    ///   - mediaType: What it is. A form is told by it, or where it is nil, as by default, by how the text begins.
    /// - Returns: The places in order; no two overlap.
    package func secretPlaces(inBody bytes: some Sequence<UInt8>, mediaType: MediaType? = nil) -> [SecretPlace] {
        let bytes = Array(bytes)
        return withValues(secretPlaces(in: bytes, place(of: bytes, mediaType)), in: bytes)
    }

    /// Where the secrets of a URL stand, by the rules of ``redact(_:)-(URL)``.
    ///
    /// - Parameter text: Its text, whatever that holds.
    /// - Returns: The places in order; no two overlap.
    package func secretPlaces(inURL text: String) -> [SecretPlace] {
        let bytes = Array(text.utf8)
        let places = URLPart.parts(of: bytes).flatMap { part in
            secretPlaces(in: Array(part.bytes), part.place).map { $0.moved(by: part.bytes.startIndex) }
        }
        return withValues(places, in: bytes)
    }

    /// Where the secrets of a header field's value stand, by the rules of ``redact(_:ofHeader:)``: a credential without
    /// its scheme, the values of cookies.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - name: The field's name.
    /// - Returns: The places in order; no two overlap.
    package func secretPlaces(inValue value: String, ofHeader name: HTTPHeaders.Name) -> [SecretPlace] {
        withValues(namedPlaces(inValue: value, ofHeader: name), in: Array(value.utf8))
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

    /// The places and those of known values.
    private func withValues(_ places: [SecretPlace], in bytes: [UInt8]) -> [SecretPlace] {
        guard let values else { return places }
        return SecretPlace.united(places + values.places(in: bytes))
    }

    private func secretPlaces(in bytes: [UInt8], _ place: SecretScanner.Place) -> [SecretPlace] {
        guard SecretScanner.mayHoldSecrets(bytes) else { return [] }
        var scanner = SecretScanner(bytes, in: place, redactor: self)
        _ = scanner.run()
        return scanner.places
    }

    /// The values of cookies; whatever does not look like one, or like an attribute that is known, is a secret too.
    private func cookiePlaces(_ value: String, hasAttributes: Bool) -> [SecretPlace] {
        let bytes = Array(value.utf8)
        // Several fields in one: what is an attribute of which is not told apart here.
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

    /// The places in order, those that overlap made one.
    fileprivate static func united(_ places: [Self]) -> [Self] {
        var united: [Self] = []
        for place in places.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            if let last = united.last, place.range.lowerBound < last.range.upperBound {
                let end = max(last.range.upperBound, place.range.upperBound)
                united[united.count - 1].range = last.range.lowerBound..<end
            } else {
                united.append(place)
            }
        }
        return united
    }
}

extension ArraySlice<UInt8> {
    /// Without the blanks at both ends.
    fileprivate var trimmed: Self {
        let start = firstIndex { !SecretScanner.isBlank($0) } ?? endIndex
        let end = lastIndex { !SecretScanner.isBlank($0) }.map { $0 + 1 } ?? start
        return self[start..<Swift.max(start, end)]
    }
}
