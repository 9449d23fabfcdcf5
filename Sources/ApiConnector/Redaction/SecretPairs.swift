// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Pairs such as `"name": "password"`, which say that the next `value` or the one before is secret.
struct SecretPairs {
    enum Kind {
        /// A member of JSON; the end of its object ends the announcement.
        case member
        /// A line of YAML: `name: password`. An empty line ends the announcement.
        case line
        /// `form-data; name=password`; the value follows an empty line.
        case parameter
        /// An attribute, or a member without quotes; the end of its tag or its object ends the announcement.
        case tag
    }

    private struct Announcement {
        let kind: Kind
        /// Whether the pair is in a quoted text, whose own quotes are not followed.
        let isQuoted: Bool
        /// The number of objects between the pair and the current index.
        var depth = 0
    }

    private var announcement: Announcement?
    /// The index after the last name that announced the value before it.
    private var searchedEnd = 0

    /// Whether a name is `value`, and a pair before it announced a secret.
    func announces(_ name: String) -> Bool {
        announcement != nil && SecretNames.normalized(name) == "value"
    }

    /// Ends the announcement at the `value` that it is for, which is not in an inner object.
    mutating func use(for name: String) {
        if announcement?.depth == 0, announces(name) { announcement = nil }
    }

    mutating func announce(_ kind: Kind, isQuoted: Bool) {
        announcement = Announcement(kind: kind, isQuoted: isQuoted)
    }

    /// Ends the announcement at another name, except in an object, where one may follow: `"name": "password", "key":
    /// "field-1"`.
    mutating func passName() {
        if announcement?.kind != .member { announcement = nil }
    }

    /// Ends the announcement at the end of its object or its tag; a bracket within a string ends neither.
    mutating func pass(_ bracket: UInt8, isInQuotes: Bool) {
        guard let kind = announcement?.kind, kind != .parameter, announcement?.isQuoted == true || !isInQuotes else {
            return
        }
        switch bracket {
        case UInt8(ascii: "{"): announcement?.depth += 1
        case UInt8(ascii: "}"): announcement?.depth -= 1
        default: if kind == .tag { announcement = nil }
        }
        if let depth = announcement?.depth, depth < 0 { announcement = nil }
    }

    /// Ends the announcement at an empty line; returns whether the part of a form after the line is secret.
    mutating func endAtEmptyLine() -> Bool {
        guard let kind = announcement?.kind else { return false }
        if kind != .member { announcement = nil }
        return kind == .parameter || kind == .tag
    }

    /// The value of `value` in the object or the tag whose name announces a secret: `{"value": "…", "name":
    /// "password"}`.
    ///
    /// The search goes back to the beginning of the object, but not beyond the last name that was searched for. So all
    /// searches together take linear time.
    ///
    /// - Parameters:
    ///   - start: The index of the name.
    ///   - quote: The index of a quote, which has the same form as the other quotes of the object.
    mutating func valueBefore(_ start: Int, quoteAt quote: Int, in text: SecretText) -> Int? {
        defer { searchedEnd = quote }
        let mark = text.units[quote]
        let isInTag = !SecretText.isQuote(text.units[start].byte)
        var depth = 0
        var isInString = false
        var position = start - 1
        while position > searchedEnd {
            let unit = text.units[position]
            if unit.byte == mark.byte, unit.level == mark.level {
                isInString.toggle()
            } else if !isInString, unit.level.isWithin(mark.level) {
                switch unit.byte {
                case UInt8(ascii: "}"), UInt8(ascii: "]"): depth += 1
                case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "<"):
                    depth -= 1
                    if depth < 0 { return nil }
                case UInt8(ascii: ":"), UInt8(ascii: "="):
                    if depth == 0, Self.isValueName(before: position, in: text) {
                        return text.valueStart(after: position)
                    }
                case UInt8(ascii: "\n") where isInTag: return nil
                default: break
                }
            }
            position -= 1
        }
        return nil
    }

    /// Whether the name before a separator is `value`.
    private static func isValueName(before separator: Int, in text: SecretText) -> Bool {
        var end = separator
        while let byte = text.byte(end - 1),
            SecretText.isBlank(byte) || SecretText.isNewline(byte) || SecretText.isQuote(byte)
        {
            end -= 1
        }
        return end >= 5 && text.string(end - 5..<end).lowercased() == "value"
            && text.byte(end - 6).map(SecretText.isName) != true
    }
}

/// Finds the response of a token endpoint in a text, in which `access` and `refresh` are secret.
///
/// These names have no word that tells. But a text that has both of them, or one of them beside `token_type` or
/// `expires_in` (RFC 6749, section 5.1), has tokens.
struct TokenResponse {
    private var names: Set<String> = []
    /// The keys whose values are secret if the text turns out to be such a response.
    private var keys: [SecretText.Key] = []

    /// Adds a key; returns the keys whose values are now known to be tokens.
    mutating func add(_ key: SecretText.Key, of text: SecretText) -> [SecretText.Key] {
        guard key.name.utf8.count < 16, let first = key.name.utf8.first, Self.nameStarts.contains(first) else {
            return []
        }
        let plain = SecretNames.normalized(key.name)
        guard SecretNames.tokenResponseNames.contains(plain) else { return [] }
        if SecretNames.pairedTokenNames.contains(plain) {
            guard text.isTextOrArray(key.value) else { return [] }
            keys.append(key)
        }
        names.insert(plain)
        guard names.count > 1 else { return [] }
        defer { keys = [] }
        return keys
    }

    private static let nameStarts = ByteSet("aertAERT")
}
