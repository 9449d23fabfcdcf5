// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Random texts of what parsers stumble over.
struct HostileText {
    private var random: SplitMix64

    init(_ random: SplitMix64) {
        self.random = random
    }

    /// The next text, of 0 to 12 pieces out of one alphabet or of all of them.
    mutating func next() -> String {
        let alphabet = Int.random(in: 0...Self.alphabets.count, using: &random)
        var text = ""
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            let source = alphabet < Self.alphabets.count ? alphabet : Int.random(in: 0..<alphabet, using: &random)
            text.unicodeScalars.append(contentsOf: piece(of: source).unicodeScalars)
        }
        return text
    }

    private mutating func piece(of alphabet: Int) -> String {
        let pieces = Self.alphabets[alphabet]
        guard pieces.isEmpty else { return pieces[Int.random(in: pieces.indices, using: &random)] }
        return String(anyScalar())
    }

    /// Any code point of the 17 planes; one of the lower planes half of the time.
    private mutating func anyScalar() -> UnicodeScalar {
        let limit: UInt32 = Bool.random(using: &random) ? 0x3FF : 0x10FFFF
        return UnicodeScalar(UInt32.random(in: 0...limit, using: &random)) ?? "\u{FFFD}"
    }

    private static let alphabets: [[String]] = [
        scalars(0x00...0x7F),
        ["/", "?", "#", "%", "+", "&", "=", " ", "\"", "'", "\\", ":", "@", "[", "]", ";", ",", "."],
        [".", "/", "%2e", "%2E", "..", "./", "/."],
        ["%", "%2F", "%2f", "%00", "%25", "%4", "%zz", "a", "é", "%C3%A9", "%C3", "%FF"],
        scalars(0x00...0x1F) + ["\u{7F}", "\u{85}", "\r\n"],
        ["a", "e", "/", "=", "\"", ".", "\u{300}", "\u{301}", "\u{338}", "\u{20DD}", "\u{FE0F}", "\u{200D}"],
        ["a", "b", ".", "-", "_", "1", "::", ":", "[", "]", "ff", "0", "%eth0"],
        ["\u{FF0F}", "\u{FF1A}", "\u{FF20}", "\u{FF0E}", "\u{3002}", "\u{2100}", "\u{AD}", "\u{37E}", "ü", "ß", "例"],
        [],
    ]

    private static func scalars(_ range: ClosedRange<UInt8>) -> [String] {
        range.map { String(UnicodeScalar($0)) }
    }
}

extension String {
    /// The text as a header field can hold it.
    func withoutControlCharacters(except kept: Set<UnicodeScalar> = ["\t"]) -> String {
        var text = UnicodeScalarView()
        text.append(contentsOf: unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F || kept.contains($0) })
        return String(text)
    }
}
