// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Tokens in a URL's path, which are recognized by their form rather than a name.
extension SecretScanner {
    /// Shorter random text is more often an ID than a secret: a ULID and many database keys have 26 characters.
    private static let minimumSegmentTokenCount = 32
    private static let base64Bytes = ByteSet("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_+/=")
    private static let hexBytes = ByteSet("0123456789abcdefABCDEF")

    /// The token in the path segment that starts at an index; nil if there is none. These are tokens:
    ///
    /// - In `bot123456:AAE…`, the part after `bot`: Telegram's format of a bot token.
    /// - At least 32 hexadecimal digits, including letters.
    /// - At least 32 characters of base64 or base64url that look random: upper-case letters, lower-case letters and
    ///   digits, where the kind of character changes at least twice per five characters on average. Slugs and names do
    ///   not look like this.
    func pathToken(at start: Int) -> Range<Int>? {
        guard place == .path, start < units.count, start == 0 || byte(start - 1) == UInt8(ascii: "/") else {
            return nil
        }
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
        let number = segment.lowerBound + 3
        guard text(segment.lowerBound..<number) == "bot" else { return nil }
        let colon = first(from: number) { !Self.isDigit($0.byte) }
        guard colon - number >= 6, colon < segment.upperBound, byte(colon) == UInt8(ascii: ":") else { return nil }
        let isToken = units[colon + 1..<segment.upperBound].allSatisfy { Self.base64Bytes.contains($0.byte) }
        return isToken ? number..<segment.upperBound : nil
    }

    private static func isHex(_ segment: [UInt8]) -> Bool {
        segment.allSatisfy(hexBytes.contains) && segment.contains(where: isDigit) && !segment.allSatisfy(isDigit)
    }

    private static func isRandomBase64(_ segment: [UInt8]) -> Bool {
        guard segment.allSatisfy(base64Bytes.contains) else { return false }
        let kinds = segment.map(Kind.init)
        guard [.lowercase, .uppercase, .digit].allSatisfy(kinds.contains) else { return false }
        let changeCount = zip(kinds, kinds.dropFirst()).count { $0 != $1 }
        return 5 * changeCount >= 2 * segment.count
    }

    private enum Kind {
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
