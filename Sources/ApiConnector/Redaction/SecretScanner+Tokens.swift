// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Tokens in a URL's path. No name says that they are secret, but their form does.
extension SecretScanner {
    /// Shorter random text is an ID more often than a secret: a ULID has 26 characters, and so have many keys of rows.
    private static let minimumSegmentTokenCount = 32
    private static let base64Bytes = ByteSet("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_+/=")
    private static let hexBytes = ByteSet("0123456789abcdefABCDEF")

    /// The token in the path segment that starts at a place.
    ///
    /// - `bot123456:AAE…` has one after `bot`: a bot's token as Telegram makes them.
    /// - Hexadecimal digits, letters among them, are one from 32 on.
    /// - Characters of base64 or base64url are one from 32 on where they look random: letters of both cases and digits,
    ///   where at least two of five neighbors are of different kinds. In a slug or a name they are not.
    func pathToken(at start: Int) -> Range<Int>? {
        guard place == .path, start < units.count, start == 0 || byte(start - 1) == UInt8(ascii: "/") else {
            return nil
        }
        let end = first(from: start) { unit in
            // An encoded slash is a character of base64.
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
