// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Describes an error of an encoder or a decoder: the coding path, and the JSON found there.
struct CodingText {
    private let json: UndecodedJSON?
    private let redactor: Redactor

    /// The failure in words, as the end of a sentence.
    ///
    /// - Parameters:
    ///   - error: The error of the encoder or decoder.
    ///   - json: The JSON that was decoded; the text quotes its value at the coding path. Nil for an encoder's error.
    ///   - redactor: Replaces secrets; the standard redactor by default.
    static func describe(
        _ error: any Error,
        in json: UndecodedJSON? = nil,
        _ redactor: Redactor = .standard
    ) -> String {
        CodingText(json: json, redactor: redactor).describe(error)
    }

    private func describe(_ error: any Error) -> String {
        switch error {
        case DecodingError.typeMismatch(let type, let context):
            "at \(path(context)) \(name(type)) was expected" + found(context.codingPath)
        case DecodingError.valueNotFound(let type, let context):
            "at \(path(context)) \(name(type)) was expected" + found(context.codingPath)
        case DecodingError.keyNotFound(let key, let context):
            "at \(path(context)) the key \"\(key.stringValue)\" is missing" + found(context.codingPath)
        case DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty && json?.isTooDeep == true:
            "it is nested deeper than \(JSONParser.maximumDepth) levels"
        case DecodingError.dataCorrupted(let context):
            "at \(path(context)): \(sentence(context))" + place(context) + found(context.codingPath)
        case EncodingError.invalidValue(let value, let context):
            "at \(path(context)), a value of type \(type(of: value)): \(sentence(context))"
        case let refusal as FormRefusal:
            "at \(path(refusal.path))\(refusal.typeName.map { ", a value of type \($0)" } ?? ""): \(refusal.reason)"
        default:
            redactor.redact(text: String(describing: error))
        }
    }

    /// Names JSON's containers in words, because Foundation's decoder names them by its own types.
    private func name(_ type: Any.Type) -> String {
        switch type {
        case is [String: Any].Type: "an object"
        case is [Any].Type: "an array"
        default: "a value of type \(type)"
        }
    }

    private func path(_ context: DecodingError.Context) -> String { path(context.codingPath) }
    private func path(_ context: EncodingError.Context) -> String { path(context.codingPath) }

    private func path(_ keys: [any CodingKey]) -> String {
        guard !keys.isEmpty else { return "the top level" }
        let text = keys.reduce("") { text, key in
            if let index = key.intValue { return text + "[\(index)]" }
            return text.isEmpty ? key.stringValue : text + "." + key.stringValue
        }
        return "\"\(text)\""
    }

    private func sentence(_ context: DecodingError.Context) -> String {
        isSecret(context.codingPath)
            ? Redactor.replacement : sentence(context.debugDescription, context.underlyingError)
    }

    private func sentence(_ context: EncodingError.Context) -> String {
        isSecret(context.codingPath)
            ? Redactor.replacement : sentence(context.debugDescription, context.underlyingError)
    }

    private func isSecret(_ keys: [any CodingKey]) -> Bool {
        let names = keys.filter { $0.intValue == nil }.map(\.stringValue)
        if names.contains(where: redactor.isSecret(nameInText:)) || isAnnounced(keys) { return true }
        if redactor.isForTokens { return names.last.map(SecretNames.mayHoldToken) ?? true }
        guard let last = keys.lastIndex(where: { $0.intValue == nil }), Redactor.isToken(keys[last].stringValue),
            case .value(.object(let members)) = finding(at: keys[..<last])
        else { return false }
        return Redactor.areOfTokens(members.keys)
    }

    /// Whether the value is in the `value` of an object whose `name` is that of a secret.
    private func isAnnounced(_ keys: [any CodingKey]) -> Bool {
        keys.indices.contains { index in
            guard SecretNames.normalized(keys[index].stringValue) == "value",
                case .value(.object(let members)) = finding(at: keys[..<index])
            else { return false }
            return members.contains { redactor.announcesSecret($0.key, $0.value.string) }
        }
    }

    private func sentence(_ text: String, _ underlying: (any Error)?) -> String {
        let reason = underlying.flatMap { ($0 as NSError).userInfo["NSDebugDescription"] as? String }
        let whole = text.hasSuffix(".") ? String(text.dropLast()) : text
        return redactor.redact(text: reason.map { "\(whole) (\($0))" } ?? whole)
    }

    /// Where the text stops being valid JSON; empty if it is valid.
    private func place(_ context: DecodingError.Context) -> String {
        guard context.codingPath.isEmpty, let json, let byteCount = json.syntaxOffset else { return "" }
        let lines = json.text.prefix(byteCount).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let last = lines.last.map { String(decoding: $0, as: UTF8.self) } ?? ""
        let column = last.unicodeScalars.count { $0 != "\u{FEFF}" } + 1
        let end = byteCount == json.text.count ? "the end, " : ""
        return " (at \(end)line \(lines.count), column \(column))"
    }

    /// The redacted beginning of the value at the path; empty if the text is not JSON or too long to parse again.
    private func found(_ keys: [any CodingKey]) -> String {
        switch finding(at: keys[...]) {
        case .value(let value):
            let text = redactor.redact(prefixOf: Data(value.description.utf8), byteCount: 1024, mediaType: nil)
            let shown = isSecret(keys) ? Redactor.replacement : text.count > 80 ? text.prefix(80) + "…" : text
            return "; found \(shown)"
        case .afterTheArray: return "; the array ends before it"
        case .unknown: return ""
        }
    }

    private enum Finding {
        case value(JSONValue)
        case afterTheArray
        case unknown
    }

    private func finding(at keys: ArraySlice<any CodingKey>) -> Finding {
        guard var place = json?.value else { return .unknown }
        for key in keys {
            if let index = key.intValue, case .array(let array) = place {
                guard array.indices.contains(index) else { return .afterTheArray }
                place = array[index]
            } else if case .object(let members) = place, let value = members[key.stringValue] {
                place = value
            } else {
                // If there is no such key, the decoder's key strategy has changed the keys.
                return .unknown
            }
        }
        return .value(place)
    }
}
