// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// JSON that did not decode, parsed again to say where and why.
struct UndecodedJSON {
    /// The size limit for parsing a body again, in bytes.
    private static let maximumByteCount = 1 << 20

    /// The text in UTF-8.
    let text: Data
    /// Nil for a text that is too long to parse again.
    private let content: Result<JSONValue, JSONFlaw>?

    init(_ json: Data) {
        let text = WideForm(of: json, nil).map { Data($0.text(of: json).utf8) } ?? json
        self.text = text
        content =
            json.count <= Self.maximumByteCount
            ? Result { () throws(JSONFlaw) in try JSONValue(json: text) } : nil
    }

    /// The value; nil for a text that is not JSON, or too long.
    var value: JSONValue? { try? content?.get() }

    /// The number of bytes before the first syntax error; nil if there is none, or if the text is too long or nested too
    /// deep to know.
    var syntaxOffset: Int? {
        if case .failure(let flaw)? = content, flaw.kind == .syntax { flaw.offset } else { nil }
    }

    /// Whether the text is nested deeper than a decoder allows.
    ///
    /// On Linux, Foundation only reports that such a text is not JSON.
    var isTooDeep: Bool {
        if case .failure(let flaw)? = content { flaw.kind == .tooDeep } else { false }
    }

    fileprivate var isParsed: Bool { content != nil }
}

/// Why a body or a record does not decode, and what to do about it.
struct DecodingFailure {
    /// The failure in words, as the end of a sentence.
    let reason: String
    /// The advice; nil for an unknown cause.
    let advice: String?

    /// - Parameters:
    ///   - error: The decoder's error.
    ///   - json: The body or the record.
    ///   - type: The type that was decoded.
    ///   - decoder: The decoder.
    ///   - isRecord: Whether the JSON is one record of a stream rather than a whole body.
    ///   - mediaType: The media type of a whole body; nil for none.
    ///   - redactor: Replaces secrets; the standard redactor by default.
    init(
        _ error: any Error,
        in json: Data,
        as type: Any.Type,
        with decoder: JSONDecoder,
        isRecord: Bool,
        mediaType: MediaType? = nil,
        _ redactor: Redactor = .standard
    ) {
        let json = UndecodedJSON(json)
        reason = CodingText.describe(error, in: json, redactor)
        let advice = DecodingAdvice(json: json, type: type, decoder: decoder)
        self.advice = advice.text(for: error, isRecord: isRecord, mediaType, redactor)
    }
}

/// Advice for a body that does not decode: change the connection's coding, the model, or the call.
struct DecodingAdvice {
    private let json: UndecodedJSON
    private let type: Any.Type
    /// How the decoder converts keys.
    private let keys: Keys

    private enum Keys {
        case asTheyAre
        case fromSnakeCase
        /// A custom strategy.
        case unknown
    }

    fileprivate init(json: UndecodedJSON, type: Any.Type, decoder: JSONDecoder) {
        self.json = json
        self.type = type
        keys =
            switch decoder.keyDecodingStrategy {
            case .useDefaultKeys: .asTheyAre
            case .convertFromSnakeCase: .fromSnakeCase
            default: .unknown
            }
    }

    fileprivate func text(
        for error: any Error,
        isRecord: Bool,
        _ mediaType: MediaType?,
        _ redactor: Redactor
    ) -> String? {
        if let known = Self.advice(onStreamOf: mediaType), Self.isAboutWholeBody(error) { return known }
        guard json.isParsed else { return nil }
        return text(for: error, isRecord: isRecord).map { redactor.redact(text: $0) }
    }

    private func text(for error: any Error, isRecord: Bool) -> String? {
        switch error {
        case DecodingError.keyNotFound(let key, let context): return adviceOnKey(key, context)
        case DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty:
            return isRecord || json.syntaxOffset == nil ? nil : adviceOnFormat
        case DecodingError.dataCorrupted(let context): return adviceOnDate(Double.self, context)
        case DecodingError.typeMismatch(let expected, let context):
            if isRecord || !context.codingPath.isEmpty { return adviceOnDate(expected, context) }
            return expected is [String: Any].Type ? adviceOnArray : expected is [Any].Type ? adviceOnObject : nil
        default: return nil
        }
    }

    /// Whether the body is not one JSON value, or not of the expected kind: an array, an object or a single value.
    private static func isAboutWholeBody(_ error: any Error) -> Bool {
        switch error {
        case DecodingError.dataCorrupted(let context), DecodingError.typeMismatch(_, let context):
            context.codingPath.isEmpty
        default: false
        }
    }

    /// Advice on a body that is a stream by its media type; nil for any other type.
    static func advice(onStreamOf mediaType: MediaType?) -> String? {
        guard let mediaType else { return nil }
        if mediaType.isEventStream { return adviceOnEvents }
        if mediaType.isJSONSequence { return adviceOnSequence }
        return mediaType.isJSONLines ? adviceOnLines : nil
    }

    private static let adviceOnEvents = "The body is an event stream: read it with stream(of:at:as:) as .events."
    private static let adviceOnSequence =
        "The body is a JSON text sequence: read it with stream(of:at:as:) as .jsonSequence."
    private static let adviceOnLines = "The body is JSON Lines: read it with stream(of:at:as:) as .jsonLines."

    private func adviceOnKey(_ key: any CodingKey, _ context: DecodingError.Context) -> String? {
        guard let names = value(at: context.codingPath)?.object?.keys else { return nil }
        func plain(_ name: String) -> String { name.replacing("_", with: "").lowercased() }
        guard let name = names.sorted().first(where: { plain($0) == plain(key.stringValue) }) else { return nil }
        let written = "The server writes \"\(name)\""
        switch keys {
        case .unknown:
            return nil
        case .fromSnakeCase where name.readFromSnakeCase != name:
            let read = name.readFromSnakeCase
            return "\(written), which .snakeCase reads as \"\(read)\": use this name in the model's CodingKeys."
        case .asTheyAre where name.readFromSnakeCase == key.stringValue:
            return "\(written): \(advice("keys: .snakeCase")), or use this name in the model's CodingKeys."
        default:
            return "\(written): use this name in the model's CodingKeys."
        }
    }

    private func advice(_ coding: String) -> String {
        "make the connection's configuration with JSONCoding(\(coding))"
    }

    /// Names the format of a body that is not JSON, judging by its beginning.
    private var adviceOnFormat: String? {
        let text = String(decoding: json.text.prefix(4096), as: UTF8.self).drop { $0.isWhitespace || $0 == "\u{FEFF}" }
        if text.first == "<" {
            return "The body is HTML or XML: check the URL, and whether a proxy or a sign-in page responded."
        }
        if [":", "data:", "event:", "id:", "retry:"].contains(where: { text.hasPrefix($0) }) {
            return Self.adviceOnEvents
        }
        if text.first == "\u{1E}" {
            return Self.adviceOnSequence
        }
        let lines = text.split(separator: "\n", maxSplits: 1)
        guard lines.count == 2, UndecodedJSON(Data(lines[0].utf8)).syntaxOffset == nil else { return nil }
        return Self.adviceOnLines
    }

    private var adviceOnArray: String? {
        guard value(at: [])?.array != nil else { return nil }
        return "The body is an array: request [\(type)], or stream its elements with stream(of:at:as:) as .elements."
    }

    private var adviceOnObject: String? {
        guard let object = value(at: [])?.object else { return nil }
        guard let name = object.keys.sorted().first(where: { object[$0]?.array != nil }) else {
            return "The body is one object: request its type, not an array."
        }
        return "The body is an object with an array at \"\(name)\": request a type that has it, or stream its elements "
            + "with stream(of:at:as:) as .elements(at: \"\(name)\")."
    }

    private func adviceOnDate(_ expected: Any.Type, _ context: DecodingError.Context) -> String? {
        let style: String
        switch value(at: context.codingPath) {
        case .string(let text) where expected == Double.self:
            guard text.beginsWithDate else { return nil }
            style = text.isInternetDate ? ".iso8601" : ".text(_:read:)"
        case .number(let number) where expected == String.self && number.double > 1e8:
            style = number.double > 1e11 ? ".millisecondsSince1970" : ".secondsSince1970"
        default: return nil
        }
        let coding = "dates: \(style)" + (keys == .fromSnakeCase ? ", keys: .snakeCase" : "")
        return "If it is a date, \(advice(coding))."
    }

    private func value(at path: [any CodingKey]) -> JSONValue? {
        guard var value = json.value else { return nil }
        for key in path {
            guard let next = key.intValue.map({ value[$0] }) ?? member(key.stringValue, of: value) else { return nil }
            value = next
        }
        return value
    }

    /// The value that the decoder reads under a key.
    private func member(_ key: String, of value: JSONValue) -> JSONValue? {
        guard let object = value.object else { return nil }
        if let value = object[key] { return value }
        guard keys == .fromSnakeCase else { return nil }
        return object.first { $0.key.readFromSnakeCase == key }?.value
    }
}

extension String {
    /// Whether the text begins with a date such as `2026-01-31`.
    fileprivate var beginsWithDate: Bool {
        let form = utf8.prefix(10).map { ByteSet.decimalDigits.contains($0) ? UInt8(ascii: "0") : $0 }
        return form == Array("0000-00-00".utf8)
    }

    /// Whether the text is a date with time and offset in the format of ``JSONCoding/DateStyle/iso8601``.
    fileprivate var isInternetDate: Bool { InternetDate.date(self) != nil }

    /// The key after Foundation's conversion from snake case: `avatarUrl` for `avatar_url`.
    ///
    /// Leading and trailing underscores stay.
    fileprivate var readFromSnakeCase: String {
        let words = split(separator: "_")
        guard words.count > 1, let first = words.first else { return self }
        let body = first.lowercased() + words.dropFirst().map(\.capitalized).joined()
        return String(prefix { $0 == "_" }) + body + String(reversed().prefix { $0 == "_" })
    }
}
