// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A secret in a field of an exchange.
struct FoundSecret {
    /// The range of the secret's bytes in the field.
    let range: Range<Int>
    /// The secret's value, without the field's encoding.
    let value: String
    /// The secret's name in the field, from which the placeholder is made.
    let kind: String
    /// Whether the secret is a JSON number, which only a number can replace.
    let isNumber: Bool
    /// The quotes that a replacement needs.
    var quote: [UInt8] = []
}

/// Finds the secrets of an exchange by their names.
///
/// In JSON each value below a secret name is a separate secret, so that its replacement has the same type.
struct SecretFinder {
    let redactor: Redactor

    /// The secrets of a field that have no placeholder yet, in order.
    func secrets(in field: RecordedField, _ bytes: [UInt8]) -> [FoundSecret] {
        allSecrets(in: field, bytes).filter { $0.value != Redactor.replacement && !Placeholder.isOne($0.value) }
    }

    /// The secrets and placeholders of a field, in order.
    func allSecrets(in field: RecordedField, _ bytes: [UInt8]) -> [FoundSecret] {
        let found: [FoundSecret] =
            switch field {
            case .url:
                plain(redactor.secretPlaces(inURL: String(decoding: bytes, as: UTF8.self)), in: bytes)
            case .header(let name):
                plain(
                    redactor.secretPlaces(inValue: String(decoding: bytes, as: UTF8.self), ofHeader: name),
                    in: bytes,
                    name
                )
            case .text:
                plain(redactor.secretPlaces(inBody: bytes), in: bytes)
            case .body(let mediaType):
                Self.isText(bytes, mediaType) ? secrets(inBody: bytes, mediaType) : []
            }
        return found.filter { !$0.value.isEmpty }
    }

    /// Whether a body is text, in which names can mark secrets.
    private static func isText(_ bytes: [UInt8], _ mediaType: MediaType?) -> Bool {
        ["text", "multipart"].contains(mediaType?.type) || mediaType?.subtype == MediaType.form.subtype
            || String(validating: bytes, as: UTF8.self) != nil
    }

    private func secrets(inBody bytes: [UInt8], _ mediaType: MediaType?) -> [FoundSecret] {
        if let root = try? JSONParser.value(in: bytes, isLenient: true), root.isContainer {
            return secrets(in: root, bytes)
        }
        let lines = jsonLines(of: bytes)
        let others = plain(redactor.secretPlaces(inBody: bytes, mediaType: mediaType), in: bytes)
        let outside = others.filter { secret in !lines.contains { $0.range.overlaps(secret.range) } }
        return (lines.flatMap { secrets(in: $0, bytes) } + outside).sorted { $0.range.lowerBound < $1.range.lowerBound }
    }

    /// The JSON values in a body of lines or of server-sent events.
    private func jsonLines(of bytes: [UInt8]) -> [LocatedJSON] {
        guard bytes.contains(UInt8(ascii: "{")) || bytes.contains(UInt8(ascii: "[")) else { return [] }
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let prefix = line.starts(with: Array("data:".utf8)) ? 5 : line.first == 0x1E ? 1 : 0
            let value = try? JSONParser.value(
                in: bytes,
                line.startIndex + prefix..<line.endIndex,
                isLenient: true
            )
            return value?.isContainer == true ? value : nil
        }
    }

    // MARK: - JSON

    private func secrets(in root: LocatedJSON, _ bytes: [UInt8]) -> [FoundSecret] {
        var found: [FoundSecret] = []
        collect(root, key: nil, bytes, &found)
        return found
    }

    /// - Parameter key: The secret name above the value; nil if there is none.
    private func collect(_ value: LocatedJSON, key: String?, _ bytes: [UInt8], _ found: inout [FoundSecret]) {
        switch value.content {
        case .object(let members):
            let isPair = members.contains { redactor.announcesSecret($0.key, $0.value.string) }
            let areOfTokens = Redactor.areOfTokens(members.map(\.key))
            for member in members {
                let isOwn =
                    redactor.isSecret(nameInText: member.key) || isPair && member.key.lowercased() == "value"
                    || areOfTokens && Redactor.isToken(member.key)
                collect(member.value, key: isOwn ? member.key : key, bytes, &found)
            }
        case .array(let values):
            for value in values { collect(value, key: key, bytes, &found) }
        case .string(let text):
            let content = value.range.lowerBound + 1..<value.range.upperBound - 1
            if let key {
                found.append(FoundSecret(range: content, value: text, kind: key, isNumber: false))
            } else {
                let inner = Array(bytes[content])
                found += plain(redactor.secretPlaces(inBody: inner), in: inner).map {
                    $0.moved(by: content.lowerBound)
                }
            }
        case .number:
            guard let key else { return }
            let text = String(decoding: bytes[value.range], as: UTF8.self)
            found.append(FoundSecret(range: value.range, value: text, kind: key, isNumber: true))
        case .bool, .null:
            break
        }
    }

    // MARK: - Text

    /// Secrets in a text that is not JSON.
    private func plain(
        _ places: [Redactor.SecretPlace],
        in bytes: [UInt8],
        _ name: HTTPHeaders.Name? = nil
    ) -> [FoundSecret] {
        places.map { place in
            let text = String(decoding: bytes[place.range], as: UTF8.self)
            let isNumber = !place.quote.isEmpty && Double(text) != nil
            return FoundSecret(
                range: place.range,
                value: text.removingPercentEncoding ?? text,
                kind: Self.name(before: place.range.lowerBound, in: bytes) ?? name?.rawValue ?? "secret",
                isNumber: isNumber,
                quote: isNumber ? [] : place.quote
            )
        }
    }

    /// The name before a value: `token` in `token=abc`, `"token": "abc"` and `token%22%3A%22abc`.
    private static func name(before start: Int, in bytes: [UInt8]) -> String? {
        func isName(_ byte: UInt8) -> Bool {
            0x61...0x7A ~= byte | 0x20 || 0x30...0x39 ~= byte || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
        }
        var end = start
        while end > 0, start - end < 8, !isName(bytes[end - 1]) { end -= 1 }
        let between = bytes[end..<start]
        guard between.contains(UInt8(ascii: "=")) || between.contains(UInt8(ascii: ":")),
            !between.contains(UInt8(ascii: "/"))
        else { return nil }
        let name = bytes[..<end].suffix(32).reversed().prefix(while: isName).reversed()
        return name.isEmpty ? nil : String(decoding: Array(name), as: UTF8.self)
    }
}

extension FoundSecret {
    /// The password in `Basic` credentials.
    ///
    /// It is a separate secret, because it may also occur elsewhere.
    var basicPassword: FoundSecret? {
        BasicCredentials.secret(in: value).map {
            FoundSecret(range: range, value: $0, kind: "password", isNumber: false)
        }
    }

    fileprivate func moved(by distance: Int) -> FoundSecret {
        FoundSecret(
            range: range.lowerBound + distance..<range.upperBound + distance,
            value: value,
            kind: kind,
            isNumber: isNumber,
            quote: quote
        )
    }
}
