// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A part of a text that can be a secret, or that can say that a value is one.
enum SecretToken {
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
    case bracket(UInt8)
    /// `name=`, without quotes.
    case assignment(Range<Int>, separator: Int)
    /// `name:`, without quotes.
    case label(Range<Int>, separator: Int)
    /// `Bearer` or `Basic` before a word at an index.
    case scheme(Range<Int>, credential: Int)
    /// Characters without a meaning.
    case other
}

extension SecretText {
    /// The token at an index, and the index at which the next one begins, unless a rule replaces more.
    func token(at start: Int, in quotes: OpenQuotes) -> (SecretToken, end: Int) {
        if let secret = pathToken(at: start) { return (.secret(secret), start) }
        switch units[start].byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            return (key(openedBy: start).map(SecretToken.key) ?? .quote, start + 1)
        case UInt8(ascii: "/"):
            return byte(start + 1) == UInt8(ascii: "/") ? (.slashes, start + 2) : (.other, start + 1)
        case UInt8(ascii: "<"): return (tag(from: start + 1), start + 1)
        case UInt8(ascii: "\n"): return (.newline, start + 1)
        case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: ">"): return (.bracket(units[start].byte), start + 1)
        case let byte where Self.isName(byte):
            let end = first(from: start) { !Self.isName($0.byte) }
            if end - start >= Self.minimumTokenCount, isTokenStart(start) { return (.secret(start..<end), start) }
            if let key = privateKey(at: start, in: quotes) { return (.secret(key), start) }
            return (word(start..<end), end)
        default: return (.other, start + 1)
        }
    }

    private func tag(from start: Int) -> SecretToken {
        var name = start..<first(from: start) { !Self.isName($0.byte) }
        if byte(name.upperBound) == UInt8(ascii: ":") {
            name = name.upperBound + 1..<first(from: name.upperBound + 1) { !Self.isName($0.byte) }
        }
        guard !name.isEmpty, name.count <= Self.maximumNameCount, let next = byte(name.upperBound),
            next == UInt8(ascii: ">") || Self.isBlank(next) || Self.isNewline(next)
        else { return .other }
        return .tag(start..<name.upperBound, name: name)
    }

    private func word(_ word: Range<Int>) -> SecretToken {
        guard word.count <= Self.maximumNameCount else { return .other }
        let next = blanksEnd(word.upperBound)
        switch byte(next) {
        case UInt8(ascii: "="): return .assignment(word, separator: next)
        case UInt8(ascii: ":"): return .label(word, separator: next)
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
        let kinds = segment.map { byte in characterKinds.firstIndex { $0.contains(byte) } }
        guard characterKinds.indices.allSatisfy(kinds.contains) else { return false }
        let changeCount = zip(kinds, kinds.dropFirst()).count { $0 != $1 }
        return 5 * changeCount >= 2 * segment.count
    }

    private static let characterKinds = [
        ByteSet("abcdefghijklmnopqrstuvwxyz"), ByteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), .decimalDigits,
    ]
}
