// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A media type with its parameters (RFC 9110, section 8.3.1), or a range of them such as `text/*`.
public struct MediaType: Sendable, Hashable, CustomStringConvertible {
    /// The part before the slash, in lower case.
    public let type: String

    /// The part behind the slash, in lower case.
    public let subtype: String

    /// The parameters in order, names in lower case, values without quotes.
    public let parameters: [Parameter]

    /// One parameter, such as `charset=utf-8`.
    public struct Parameter: Sendable, Hashable {
        /// The name in lower case.
        public let name: String
        /// The value without quotes.
        public let value: String

        /// Makes a parameter; the name is put in lower case.
        public init(name: String, value: String) {
            self.name = name.lowercased()
            self.value = value
        }
    }

    /// Makes a media type of its parts.
    public init(_ type: String, _ subtype: String, parameters: [Parameter] = []) {
        self.type = type.lowercased()
        self.subtype = subtype.lowercased()
        self.parameters = parameters
    }

    /// Reads a media type as a `Content-Type` field gives it; nil where the text is none.
    public init?(_ text: String) {
        let parts = Self.split(text, at: ";")
        let names = parts[0].unicodeScalars.split(separator: "/", omittingEmptySubsequences: false).map { String($0) }
        guard names.count == 2, names.allSatisfy({ !$0.isEmpty && ByteSet.token.containsAll(of: $0) }) else {
            return nil
        }
        self.init(names[0], names[1], parameters: parts.dropFirst().compactMap(Parameter.init(text:)))
    }

    /// The value of a parameter, by its name in any case; the first where it repeats.
    public subscript(parameter name: String) -> String? {
        let name = name.lowercased()
        return parameters.first { $0.name == name }?.value
    }

    /// Whether the body is one JSON text: `application/json`, `text/json`, or a subtype that ends in `+json`.
    public var isJSON: Bool {
        subtype == "json" && (type == "application" || type == "text") || subtype.hasSuffix("+json")
    }

    /// Whether this type lies in a range: `*/*`, `text/*`, `application/*+json`, or the type itself.
    ///
    /// Parameters of the range other than `q` have to be there with the same value, in whatever case.
    public func matches(_ range: MediaType) -> Bool {
        guard range.type == "*" || range.type == type else { return false }
        let suffix = range.subtype.hasPrefix("*+") ? range.subtype.dropFirst() : nil
        guard range.subtype == "*" || range.subtype == subtype || suffix.map({ subtype.hasSuffix($0) }) == true
        else { return false }
        return range.parameters.allSatisfy {
            $0.name == "q" || self[parameter: $0.name]?.lowercased() == $0.value.lowercased()
        }
    }

    /// The ranges of an `Accept` field, in order; parts that are none are left out.
    public static func ranges(in text: String) -> [MediaType] {
        split(text, at: ",").compactMap { MediaType($0) }
    }

    /// The media type as a field gives it, values quoted where they must be.
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

    /// The text's parts between separators, at least one; those within quotes left alone, blanks around them removed.
    ///
    /// By Unicode scalars, here and below: as a `Character` a quote with a combining mark behind it is none.
    private static func split(_ text: String, at separator: UnicodeScalar) -> [String] {
        var parts: [String] = []
        var part = String.UnicodeScalarView()
        var isQuoted = false
        var isEscaped = false
        for scalar in text.unicodeScalars {
            if scalar == separator, !isQuoted {
                parts.append(String(part))
                part.removeAll()
                continue
            }
            if isEscaped {
                isEscaped = false
            } else if scalar == "\\", isQuoted {
                isEscaped = true
            } else if scalar == "\"" {
                isQuoted.toggle()
            }
            part.append(scalar)
        }
        parts.append(String(part))
        return parts.map { $0.trimmingCharacters(in: .blanks) }
    }
}

extension CharacterSet {
    /// Space and tab: RFC 9110, section 5.6.3, "OWS".
    fileprivate static let blanks = CharacterSet(charactersIn: " \t")
}

extension MediaType {
    /// `application/json` (RFC 8259).
    public static let json = MediaType("application", "json")
    /// `application/x-www-form-urlencoded`, as browsers send forms.
    public static let form = MediaType("application", "x-www-form-urlencoded")
    /// `application/octet-stream`: bytes of which nothing is known.
    public static let octetStream = MediaType("application", "octet-stream")
    /// `text/plain` in UTF-8.
    public static let plainText = MediaType("text", "plain", parameters: [Parameter(name: "charset", value: "utf-8")])
    /// `*/*`, the range of everything.
    public static let any = MediaType("*", "*")
}

extension MediaType.Parameter {
    fileprivate init?(text: String) {
        let scalars = text.unicodeScalars
        guard let equals = scalars.firstIndex(of: "=") else { return nil }
        let name = String(scalars[..<equals]).trimmingCharacters(in: .blanks)
        guard !name.isEmpty, ByteSet.token.containsAll(of: name) else { return nil }
        let raw = String(scalars[scalars.index(after: equals)...]).trimmingCharacters(in: .blanks)
        self.init(name: name, value: Self.unquoted(raw.unicodeScalars) ?? raw)
    }

    private static func unquoted(_ scalars: String.UnicodeScalarView) -> String? {
        guard scalars.count >= 2, scalars.first == "\"", scalars.last == "\"" else { return nil }
        var value = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in scalars.dropFirst().dropLast() {
            if scalar == "\\", !isEscaped {
                isEscaped = true
            } else {
                value.append(scalar)
                isEscaped = false
            }
        }
        return String(value)
    }
}
