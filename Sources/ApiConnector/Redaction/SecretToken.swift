// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A part of a text that can be a secret, or that can say that a value is one.
struct SecretToken {
    /// A name and a separator, without quotes.
    struct Label {
        let name: Range<Int>
        let separator: Int
    }

    enum Kind {
        /// A secret that its own form tells, such as a JSON web token.
        case secret(Range<Int>)
        /// `"name": value` of JSON and `"name" => value` of other formats, in any quotes and escaped to any depth.
        case key(SecretText.Key)
        /// Any other quote.
        case quote
        /// Two slashes, before a host and perhaps user info.
        case slashes
        /// `<name>` or `<prefix:name>` of XML; `name` is without the prefix.
        case tag(Range<Int>, name: Range<Int>)
        /// The end of a line.
        case newline
        /// A brace or `>`.
        case bracket
        /// `name=`
        case assignment(Label)
        /// `name:`
        case label(Label)
        /// `Bearer` or `Basic` before a word at an index.
        case scheme(Range<Int>, credential: Int)
        /// Characters without a meaning.
        case other
    }

    let kind: Kind
    let start: Int
    /// The index at which the next token begins, unless a rule replaces more.
    let end: Int
}

extension SecretText {
    /// The token at an index.
    func token(at start: Int, in quotes: OpenQuotes) -> SecretToken {
        func token(_ kind: SecretToken.Kind, _ end: Int) -> SecretToken {
            SecretToken(kind: kind, start: start, end: end)
        }
        if let secret = pathToken(at: start) { return token(.secret(secret), start) }
        switch units[start].byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            return token(key(openedBy: start).map(SecretToken.Kind.key) ?? .quote, start + 1)
        case UInt8(ascii: "/"):
            return byte(start + 1) == UInt8(ascii: "/") ? token(.slashes, start + 2) : token(.other, start + 1)
        case UInt8(ascii: "<"):
            return token(tag(from: start + 1), start + 1)
        case UInt8(ascii: "\n"):
            return token(.newline, start + 1)
        case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: ">"):
            return token(.bracket, start + 1)
        case let byte where Self.isName(byte):
            let end = first(from: start) { !Self.isName($0.byte) }
            if let secret = wordToken(start..<end) ?? privateKey(at: start, in: quotes) {
                return token(.secret(secret), start)
            }
            return token(word(start..<end), end)
        default:
            return token(.other, start + 1)
        }
    }

    private func tag(from start: Int) -> SecretToken.Kind {
        var name = start..<first(from: start) { !Self.isName($0.byte) }
        if byte(name.upperBound) == UInt8(ascii: ":") {
            name = name.upperBound + 1..<first(from: name.upperBound + 1) { !Self.isName($0.byte) }
        }
        guard !name.isEmpty, name.count <= Self.maximumNameCount, let next = byte(name.upperBound),
            next == UInt8(ascii: ">") || Self.isBlank(next) || Self.isNewline(next)
        else { return .other }
        return .tag(start..<name.upperBound, name: name)
    }

    private func word(_ word: Range<Int>) -> SecretToken.Kind {
        guard word.count <= Self.maximumNameCount else { return .other }
        let next = blanksEnd(word.upperBound)
        switch byte(next) {
        case UInt8(ascii: "="): return .assignment(SecretToken.Label(name: word, separator: next))
        case UInt8(ascii: ":"): return .label(SecretToken.Label(name: word, separator: next))
        default: break
        }
        guard word.count <= 6, Self.isScheme(string(word)) else { return .other }
        let credential = byte(next) == UInt8(ascii: "+") ? next + 1 : next
        guard credential > word.upperBound, byte(credential).map(Self.isQuote) == false else { return .other }
        return .scheme(word, credential: credential)
    }

    static func isScheme(_ word: String) -> Bool {
        ["basic", "bearer"].contains(word.lowercased())
    }
}

// MARK: - Secrets that their form tells

extension SecretText {
    private static let telltales = ByteSet("=:%@\"'<\\& ")

    /// Whether a text can contain secrets.
    static func mayHoldSecrets(_ bytes: [UInt8]) -> Bool {
        bytes.contains(where: telltales.contains) || bytes.count >= minimumTokenCount
    }

    /// The minimum length of a JSON web token.
    static let minimumTokenCount = 20

    private func wordToken(_ word: Range<Int>) -> Range<Int>? {
        word.count >= Self.minimumTokenCount && isTokenStart(word.lowerBound) ? word : nil
    }

    /// Whether the base64 text of `{"`, which begins a JSON web token, is at an index.
    func isTokenStart(_ index: Int) -> Bool { begins("eyJ", at: index) }

    /// The lines of a private key in PEM format (RFC 7468) that begins at an index; nil if there is none.
    private func privateKey(at start: Int, in quotes: OpenQuotes) -> Range<Int>? {
        guard byte(start) == UInt8(ascii: "-"), begins("-----BEGIN", at: start) else { return nil }
        let limit = start + 80
        var end = start + 10
        while end < limit, let byte = byte(end), byte != UInt8(ascii: "-") { end += 1 }
        let label = string(start + 10..<min(end, units.count)).replacing("+", with: " ")
        guard label.contains("PRIVATE KEY"), begins("-----", at: end) else { return nil }
        let body = end + 5
        var close = body
        while close < units.count, !begins("-----END", at: close) {
            if quotes.end(with: units[close], level: units[start].level) { break }
            close += 1
        }
        return body..<close
    }

    /// Shorter random text is more often an ID than a secret: a ULID and many database keys have 26 characters.
    private static let minimumSegmentTokenCount = 32
    private static let base64Bytes = ByteSet("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_+/=")

    /// The token in the path segment that starts at an index; nil if there is none. These are tokens:
    ///
    /// - In `bot123456:AAE…`, the part after `bot`: Telegram's format of a bot token.
    /// - At least 32 hexadecimal digits, including letters.
    /// - At least 32 characters of base64 or base64url that look random: upper-case letters, lower-case letters and
    ///   digits, where the kind of character changes at least twice per five characters on average. Slugs and names do
    ///   not look like this.
    private func pathToken(at start: Int) -> Range<Int>? {
        guard place == .path, start == 0 || byte(start - 1) == UInt8(ascii: "/") else { return nil }
        let end = first(from: start) { unit in
            // A percent-encoded slash is a character of base64.
            (unit.byte == UInt8(ascii: "/") || unit.byte == UInt8(ascii: ";")) && unit.level == TextUnit.Level()
        }
        guard end - start >= Self.minimumSegmentTokenCount else { return nil }
        if let token = botToken(in: start..<end) { return token }
        let segment = units[start..<end].map(\.byte)
        return Self.isHex(segment) || Self.isRandomBase64(segment) ? start..<end : nil
    }

    private func botToken(in segment: Range<Int>) -> Range<Int>? {
        guard begins("bot", at: segment.lowerBound) else { return nil }
        let number = segment.lowerBound + 3
        let colon = first(from: number) { !Self.isDigit($0.byte) }
        guard colon - number >= 6, colon < segment.upperBound, byte(colon) == UInt8(ascii: ":") else { return nil }
        let isToken = units[colon + 1..<segment.upperBound].allSatisfy { Self.base64Bytes.contains($0.byte) }
        return isToken ? number..<segment.upperBound : nil
    }

    private static func isHex(_ segment: [UInt8]) -> Bool {
        segment.allSatisfy(ByteSet.hexadecimalDigits.contains) && segment.contains(where: isDigit)
            && !segment.allSatisfy(isDigit)
    }

    private static func isRandomBase64(_ segment: [UInt8]) -> Bool {
        guard segment.allSatisfy(base64Bytes.contains) else { return false }
        let kinds = segment.map(CharacterKind.init)
        guard [.lowercase, .uppercase, .digit].allSatisfy(kinds.contains) else { return false }
        let changeCount = zip(kinds, kinds.dropFirst()).count { $0 != $1 }
        return 5 * changeCount >= 2 * segment.count
    }

    private enum CharacterKind {
        case lowercase, uppercase, digit, mark

        init(_ byte: UInt8) {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): self = .lowercase
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): self = .uppercase
            case UInt8(ascii: "0")...UInt8(ascii: "9"): self = .digit
            default: self = .mark
            }
        }
    }
}
