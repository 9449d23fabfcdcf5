// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
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
            if value.first.map(SecretScanner.isBracket) == true {
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
