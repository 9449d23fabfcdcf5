// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Values that another member of the same object makes secret.
extension SecretScanner {
    /// A pair such as `"name": "password"`, which says that the next `value` is secret.
    struct Announcement {
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

        let kind: Kind
        /// Whether the pair is in a quoted text, whose own quotes are not followed.
        let isQuoted: Bool
        /// The number of objects between the pair and the current index.
        var depth = 0
    }

    /// Records whether a pair such as `"name": "password"` announces a secret: the next or the last `value`.
    ///
    /// Without quotes, only a parameter, a line and an item of a form announce a secret, such as `form-data;
    /// name=password`.
    mutating func noteName(_ name: String, _ value: Int, keyStart: Int, isLabel: Bool = false) {
        guard name.utf8.count < 16, ["key", "name"].contains(SecretNames.normalized(name)) else { return }
        let isMember = byte(keyStart).map(Self.isQuote) == true
        let isLine = isLabel && startsLine(keyStart)
        let isQuoted = byte(value).map(Self.isQuote) == true
        let announced: String
        if isQuoted {
            guard let close = closing(of: value, limit: Self.maximumNameCount) else { return }
            announced = text(value + 1..<close)
        } else {
            guard isLine || place == .form || isParameter(keyStart) else { return }
            announced = text(value..<first(from: value) { !Self.isName($0.byte) })
        }
        guard isSecretKey(announced) else {
            // In an object, another name may follow: `"name": "password", "key": "field-1"`.
            if announcement?.kind != .member { announcement = nil }
            return
        }
        let kind: Announcement.Kind =
            isMember ? .member : isParameter(keyStart) ? .parameter : isLine ? .line : .tag
        announcement = Announcement(kind: kind, isQuoted: !openQuotes.isEmpty)
        if isQuoted { replaceValueBefore(keyStart, quoteAt: value) }
    }

    /// Ends the announcement at the end of its object or its tag; a bracket within a string ends neither.
    mutating func passBracket() {
        guard let announcement, announcement.kind != .parameter, announcement.isQuoted || openQuotes.isEmpty else {
            return
        }
        switch byte(index) {
        case UInt8(ascii: "{"): self.announcement?.depth += 1
        case UInt8(ascii: "}"): self.announcement?.depth -= 1
        default: if announcement.kind == .tag { self.announcement = nil }
        }
        if let depth = self.announcement?.depth, depth < 0 { self.announcement = nil }
    }

    private func isParameter(_ start: Int) -> Bool {
        var previous = start - 1
        while let byte = byte(previous), Self.isBlank(byte) { previous -= 1 }
        return byte(previous) == UInt8(ascii: ";")
    }

    /// Replaces the value of `value` in the object or the tag whose name announces a secret: `{"value": "…", "name":
    /// "password"}`.
    ///
    /// The search goes back to the beginning of the object, but not beyond the last name that was searched for. So all
    /// searches together take linear time.
    ///
    /// - Parameter quote: The index of a quote, which has the same form as the other quotes of the object.
    private mutating func replaceValueBefore(_ start: Int, quoteAt quote: Int) {
        defer { announcedEnd = quote }
        let mark = units[quote]
        let isInTag = !Self.isQuote(units[start].byte)
        var depth = 0
        var isInString = false
        var found: Int?
        var position = start - 1
        while position > announcedEnd, found == nil {
            let unit = units[position]
            if unit.byte == mark.byte, unit.level == mark.level {
                isInString.toggle()
            } else if !isInString, unit.level.isWithin(mark.level) {
                switch unit.byte {
                case UInt8(ascii: "}"), UInt8(ascii: "]"): depth += 1
                case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "<"):
                    depth -= 1
                    if depth < 0 { return }
                case UInt8(ascii: ":"), UInt8(ascii: "="):
                    if depth == 0, isValueName(before: position) { found = position }
                case UInt8(ascii: "\n") where isInTag: return
                default: break
                }
            }
            position -= 1
        }
        guard let separator = found else { return }
        let value = valueStart(behind: separator)
        replaceElsewhere({ $0.replaceKeyedValue(at: value, key: quote) }, from: value)
    }

    /// Whether the name before a separator is `value`.
    private func isValueName(before separator: Int) -> Bool {
        var end = separator
        while let byte = byte(end - 1), Self.isBlank(byte) || Self.isNewline(byte) || Self.isQuote(byte) { end -= 1 }
        return end >= 5 && text(end - 5..<end).lowercased() == "value" && byte(end - 6).map(Self.isName) != true
    }

    /// Replaces `access` and `refresh` in the response of a token endpoint.
    ///
    /// These names have no word that tells. But a text that has both of them, or one of them beside `token_type` or
    /// `expires_in` (RFC 6749, section 5.1), has tokens.
    mutating func noteTokenName(_ name: String, _ close: Int, _ value: Int) {
        guard name.utf8.count < 16, let first = name.utf8.first, Self.tokenNameStarts.contains(first) else { return }
        let plain = SecretNames.normalized(name)
        guard SecretNames.tokenResponseNames.contains(plain) else { return }
        if SecretNames.pairedTokenNames.contains(plain) {
            guard mayBeToken(value) else { return }
            tokenKeys.append((close, value))
        }
        tokenNames.insert(plain)
        guard tokenNames.count > 1 else { return }
        for key in tokenKeys {
            replaceElsewhere({ $0.replaceKeyedValue(at: key.value, key: key.close) }, from: key.value)
        }
        tokenKeys = []
    }

    private static let tokenNameStarts = ByteSet("aertAERT")

    /// Whether a key of a token endpoint's response may have a token, because it is not known to be harmless.
    func mayHoldToken(_ name: String, _ value: Int) -> Bool {
        redactor.isForTokens && SecretNames.mayHoldToken(name) && mayBeToken(value)
    }

    /// Whether a string in a token endpoint's response is not a member of an object, so that it may be a token.
    func isTokenWithoutName(_ quote: Int) -> Bool {
        guard redactor.isForTokens, place == .text else { return false }
        var previous = quote - 1
        while let byte = byte(previous), Self.isBlank(byte) || Self.isNewline(byte) { previous -= 1 }
        return byte(previous).map { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: ",") } ?? true
    }

    private func mayBeToken(_ value: Int) -> Bool {
        byte(value).map { Self.isQuote($0) || $0 == UInt8(ascii: "[") } == true
    }

    // MARK: - Private keys

    /// The lines of a private key in PEM format (RFC 7468) that begins at an index; nil if there is none.
    func privateKey(at start: Int) -> Range<Int>? {
        guard byte(start) == UInt8(ascii: "-"), begins("-----BEGIN", at: start) else { return nil }
        let limit = start + 80
        var end = start + 10
        while end < limit, let byte = byte(end), byte != UInt8(ascii: "-") { end += 1 }
        let label = text(start + 10..<min(end, units.count)).replacing("+", with: " ")
        guard label.contains("PRIVATE KEY"), begins("-----", at: end) else { return nil }
        let body = end + 5
        var close = body
        while close < units.count, !begins("-----END", at: close) {
            if closesOpenQuote(units[close], level: units[start].level) { break }
            close += 1
        }
        return body..<close
    }

    private func begins(_ text: StaticString, at start: Int) -> Bool {
        let end = start + text.utf8CodeUnitCount
        guard end <= units.count else { return false }
        return (start..<end).allSatisfy { units[$0].byte == text.utf8Start[$0 - start] }
    }

    // MARK: - Values of several lines

    /// The end of a value that continues on lines with a deeper indentation: a folded header field, or a block of YAML.
    ///
    /// - Parameters:
    ///   - end: The end of the value's first line.
    ///   - value: The beginning of the value. If it is `|` or `>`, the block may have empty lines.
    ///   - name: The beginning of the name.
    func foldedEnd(from end: Int, valueAt value: Int, nameAt name: Int, _ level: TextUnit.Level) -> Int {
        guard place == .text else { return end }
        let isBlock = byte(value) == UInt8(ascii: "|") || byte(value) == UInt8(ascii: ">")
        var start = name
        while let byte = byte(start - 1), !Self.isNewline(byte), !Self.isQuote(byte) { start -= 1 }
        let indentation = name - start
        var end = end
        var next = end
        while let newline = byte(next), Self.isNewline(newline), units[next].level.isWithin(level) {
            next += newline == UInt8(ascii: "\r") && byte(next + 1) == UInt8(ascii: "\n") ? 2 : 1
            let text = blanksEnd(next) { Self.isBlank($0) }
            guard let first = byte(text) else { break }
            if Self.isNewline(first) {
                guard isBlock else { break }
                next = text
                continue
            }
            guard text - next > indentation else { break }
            end = valueEnd(from: text, level: level, Self.isNewline)
            next = end
        }
        return end
    }
}
