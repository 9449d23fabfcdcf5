// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A media type with parameters (RFC 9110, section 8.3.1), or a range of media types such as `text/*`.
public struct MediaType: Sendable, Hashable, CustomStringConvertible {
    /// The part before the slash, in lower case.
    public let type: String

    /// The part after the slash, in lower case.
    public let subtype: String

    /// The parameters in order, with lower-case names and unquoted values.
    public let parameters: [Parameter]

    /// One parameter, such as `charset=utf-8`.
    public struct Parameter: Sendable, Hashable {
        /// The name in lower case.
        public let name: String
        /// The value without quotes.
        public let value: String

        /// Makes a parameter and converts the name to lower case.
        public init(name: String, value: String) {
            self.name = name.lowercased()
            self.value = value
        }
    }

    /// Makes a media type from its parts.
    public init(_ type: String, _ subtype: String, parameters: [Parameter] = []) {
        self.type = type.lowercased()
        self.subtype = subtype.lowercased()
        self.parameters = parameters
    }

    /// Parses the value of a `Content-Type` field; nil if the text is not a media type.
    public init?(_ text: String) {
        self.init(Self.split(Substring(text).utf8, at: UInt8(ascii: ";")))
    }

    private init?(_ parts: [Substring.UTF8View]) {
        let name = parts[0]
        guard let slash = name.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        let type = String(Substring(name[..<slash]))
        let subtype = String(Substring(name[name.index(after: slash)...]))
        guard type.isToken, subtype.isToken else { return nil }
        self.init(type, subtype, parameters: parts.dropFirst().compactMap(Parameter.init(text:)))
    }

    /// The first value of a parameter; the name can have any case.
    public subscript(parameter name: String) -> String? {
        let name = name.lowercased()
        return parameters.first { $0.name == name }?.value
    }

    /// Whether the type means JSON: `application/json`, `text/json`, or a subtype that ends in `+json`.
    public var isJSON: Bool {
        subtype == "json" && (type == "application" || type == "text") || subtype.hasSuffix("+json")
    }

    /// Whether this type is within a range: `*/*`, `text/*`, `application/*+json`, or the type itself.
    ///
    /// The type has to have each parameter of the range except `q`, with the same value. The case of the value does not
    /// matter.
    public func matches(_ range: MediaType) -> Bool {
        guard range.type == "*" || range.type == type else { return false }
        let suffix = range.subtype.hasPrefix("*+") ? range.subtype.dropFirst() : nil
        guard range.subtype == "*" || range.subtype == subtype || suffix.map({ subtype.hasSuffix($0) }) == true
        else { return false }
        return range.parameters.allSatisfy {
            $0.name == "q" || self[parameter: $0.name]?.lowercased() == $0.value.lowercased()
        }
    }

    /// Parses the ranges of an `Accept` field, in order; invalid parts are left out.
    public static func ranges(in text: String) -> [MediaType] {
        split(Substring(text).utf8, at: UInt8(ascii: ",")).compactMap { MediaType(split($0, at: UInt8(ascii: ";"))) }
    }

    /// The media type as a field's value, with values quoted if necessary.
    public var description: String {
        parameters.reduce("\(type)/\(subtype)") { text, parameter in
            let isPlain = !parameter.value.isEmpty && ByteSet.token.containsAll(of: parameter.value)
            return text + "; \(parameter.name)=" + (isPlain ? parameter.value : Self.quoted(parameter.value))
        }
    }

    private static func quoted(_ value: String) -> String {
        var text = "\""
        for scalar in value.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { text.unicodeScalars.append("\\") }
            text.unicodeScalars.append(scalar)
        }
        return text + "\""
    }

    /// Splits the text at separators outside quotes and trims the parts; returns at least one part.
    ///
    /// The parser works on bytes. It does not use `Character`, because a quote with a combining mark is not equal to a
    /// quote. It does not use Unicode scalars, because iterating over them accounted for half of the duration of a call
    /// to a test double.
    private static func split(_ text: Substring.UTF8View, at separator: UInt8) -> [Substring.UTF8View] {
        guard text.contains(separator) else { return [text.withoutBlanks] }
        var parts: [Substring.UTF8View] = []
        var start = text.startIndex
        var isQuoted = false
        var isEscaped = false
        for index in text.indices {
            let byte = text[index]
            if byte == separator, !isQuoted {
                parts.append(text[start..<index].withoutBlanks)
                start = text.index(after: index)
            } else if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\"), isQuoted {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            }
        }
        parts.append(text[start...].withoutBlanks)
        return parts
    }
}

extension Substring.UTF8View {
    /// The text without surrounding spaces and tabs ("OWS" in RFC 9110, section 5.6.3).
    fileprivate var withoutBlanks: Substring.UTF8View {
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var text = self
        while let first = text.first, isBlank(first) { text.removeFirst() }
        while let last = text.last, isBlank(last) { text.removeLast() }
        return text
    }
}

extension String {
    fileprivate var isToken: Bool { !isEmpty && ByteSet.token.containsAll(of: self) }
}

extension MediaType {
    /// `application/json` (RFC 8259).
    public static let json = MediaType("application", "json")
    /// `application/x-www-form-urlencoded`, the type of a web form.
    public static let form = MediaType("application", "x-www-form-urlencoded")
    /// `application/octet-stream`: bytes of an unknown type.
    public static let octetStream = MediaType("application", "octet-stream")
    /// `text/plain` in UTF-8.
    public static let plainText = MediaType("text", "plain", parameters: [Parameter(name: "charset", value: "utf-8")])
    /// `*/*`, the range of all types.
    public static let any = MediaType("*", "*")
}

extension MediaType {
    private static let lineNames: Set<String> = [
        "x-ndjson", "ndjson", "jsonl", "x-jsonl", "jsonlines", "x-jsonlines", "json-lines", "x-json-stream",
    ]

    /// Server-sent events.
    var isEventStream: Bool { type == "text" && subtype == "event-stream" }

    /// NDJSON or JSON Lines, for which no media type is registered.
    var isJSONLines: Bool { (type == "application" || type == "text") && Self.lineNames.contains(subtype) }

    /// A JSON text sequence (RFC 7464, RFC 8091).
    var isJSONSequence: Bool {
        type == "application" && subtype == "json-seq" || subtype.hasSuffix("+json-seq")
    }
}

extension MediaType.Parameter {
    fileprivate init?(text: Substring.UTF8View) {
        guard let equals = text.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let name = String(Substring(text[..<equals].withoutBlanks))
        guard name.isToken else { return nil }
        let raw = text[text.index(after: equals)...].withoutBlanks
        self.init(name: name, value: Self.unquoted(raw) ?? String(Substring(raw)))
    }

    private static func unquoted(_ text: Substring.UTF8View) -> String? {
        guard text.count >= 2, text.first == UInt8(ascii: "\""), text.last == UInt8(ascii: "\"") else { return nil }
        var value: [UInt8] = []
        var isEscaped = false
        for byte in text.dropFirst().dropLast() {
            if byte == UInt8(ascii: "\\"), !isEscaped {
                isEscaped = true
            } else {
                value.append(byte)
                isEscaped = false
            }
        }
        return String(decoding: value, as: UTF8.self)
    }
}
