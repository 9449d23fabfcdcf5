// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Goes once through a text and replaces the secrets in it; the rules are in `SecretScanner+Rules.swift`, values in
/// `SecretScanner+Values.swift`.
///
/// What a rule replaces or passes over is not looked at again, and what it only looks at is bounded, so the whole is
/// linear.
struct SecretScanner {
    /// Where a text stands: it decides what may end a value that has no quotes.
    enum Place {
        /// Anything: a blank, `&`, or the quote in which it all stands.
        case text
        /// A query, a fragment or a form: nothing but `&`.
        case form
        /// A URL before its query: also a slash or a semicolon.
        case path
    }

    let place: Place
    let redactor: Redactor
    let bytes: [UInt8]
    let units: [TextUnit]

    /// The unit that is looked at.
    var index = 0
    /// Whether the last `"name": "…"` named a secret, so that the next `"value": …` is one.
    var namesASecret = false
    /// The secret keys and tags that were met, until their ends are: what stands within them is looked at too.
    var pendingKeys: [(close: Int, value: Int)] = []
    var pendingTag: (name: Range<Int>, end: Int)?
    /// Up to where replaced quotes were looked at for keys.
    var notedEnd = 0
    /// A value that is to be replaced next.
    var pendingValue: (start: Int, level: TextUnit.Level)?
    /// The quotes that were opened and not closed, double and single.
    var openQuotes: [UInt8: TextUnit.Level] = [:]
    /// Where the last run without blanks ended, and its last `@`.
    var runEnd = 0
    var runLastAt: Int?

    /// What was replaced, in order.
    private(set) var places: [Redactor.SecretPlace] = []
    private var output: [UInt8] = []
    private var copiedByteCount = 0

    init(_ bytes: [UInt8], in place: Place, redactor: Redactor) {
        self.place = place
        self.redactor = redactor
        self.bytes = bytes
        units = TextUnit.units(of: bytes, decodesEntities: place == .text)
    }

    /// The text with its secrets replaced; nil where there were none.
    mutating func run() -> [UInt8]? {
        while index < units.count {
            replacePending()
            guard index < units.count else { break }
            if let token = pathToken(at: index) {
                replace(token)
                continue
            }
            switch units[index].byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"): passQuote()
            case UInt8(ascii: "/"): passSlash()
            case UInt8(ascii: "<"): passTag()
            case UInt8(ascii: "\n"): passNewline()
            case UInt8(ascii: "}"), UInt8(ascii: ">"):
                namesASecret = false
                index += 1
            case let byte where Self.isName(byte): passWord()
            default: index += 1
            }
        }
        guard copiedByteCount > 0 else { return nil }
        return output + bytes[copiedByteCount...]
    }

    /// Replaces units by the word, within quotes like those of a key if one is given, and goes on behind them.
    ///
    /// What was replaced before is left out.
    mutating func replace(_ whole: Range<Int>, quotedLike quote: Int? = nil) {
        let start = max(whole.lowerBound, index)
        let range = start..<max(whole.upperBound, start)
        index = range.upperBound
        guard !range.isEmpty else { return }
        let marks = quote.map { bytes[offset($0)..<offset($0 + 1)] } ?? []
        output += bytes[copiedByteCount..<offset(range.lowerBound)]
        output += marks + Array(Redactor.replacement.utf8) + marks
        let replaced = offset(range.lowerBound)..<offset(range.upperBound)
        places.append(Redactor.SecretPlace(range: replaced, quote: Array(marks)))
        copiedByteCount = offset(range.upperBound)
    }

    private func offset(_ index: Int) -> Int {
        index < units.count ? units[index].start : bytes.count
    }
}

extension SecretScanner {
    private static let nameBytes = ByteSet("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.[]$")
    private static let telltales = ByteSet("=:%@\"'<\\& ")

    /// Whether a byte can be one of a name that stands without quotes.
    static func isName(_ byte: UInt8) -> Bool {
        byte >= 0x80 || nameBytes.contains(byte)
    }

    /// Whether there is anything to look for.
    static func mayHoldSecrets(_ bytes: [UInt8]) -> Bool {
        bytes.contains(where: telltales.contains) || bytes.count >= minimumTokenCount
    }

    /// How long a word has to be to be taken for a JSON web token.
    static let minimumTokenCount = 20

    static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }
    static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    static func isNewline(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }
    static func isDigit(_ byte: UInt8) -> Bool { ByteSet.decimalDigits.contains(byte) }

    func byte(_ index: Int) -> UInt8? {
        units.indices.contains(index) ? units[index].byte : nil
    }

    /// The first place from one on where a unit passes a test, or the end.
    func first(from start: Int, where test: (TextUnit) -> Bool) -> Int {
        var index = start
        while index < units.count, !test(units[index]) { index += 1 }
        return index
    }

    func text(_ range: Range<Int>) -> String {
        String(decoding: units[range].map(\.byte), as: UTF8.self)
    }

    /// The quote that closes one; nil where the text ends before, or the limit.
    func closing(of quote: Int, limit: Int = .max) -> Int? {
        let opener = units[quote]
        let end = limit < units.count - quote ? quote + limit : units.count
        return (quote + 1..<max(end, quote + 1)).first {
            units[$0].byte == opener.byte && units[$0].level.isWithin(opener.level)
        }
    }

    /// Whether a quote ends the text in which everything stands, a value of some level too.
    func closesOpenQuote(_ unit: TextUnit, level: TextUnit.Level) -> Bool {
        guard Self.isQuote(unit.byte), let opener = openQuotes[unit.byte] else { return false }
        return unit.level.isWithin(opener) && unit.level.isWithin(level)
    }

    /// Keeps count of the quotes that are open; a single one among letters is an apostrophe.
    mutating func note(_ quote: Int) {
        let unit = units[quote]
        if let level = openQuotes[unit.byte] {
            if unit.level.isWithin(level) { openQuotes[unit.byte] = nil }
        } else if unit.byte == UInt8(ascii: "\"") || !(byte(quote - 1).map(Self.isName) ?? false) {
            openQuotes[unit.byte] = unit.level
        }
    }
}
