// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Replaces the secrets in a text in one pass.
///
/// The rules are in `SecretScanner+Rules.swift`, the values in `SecretScanner+Values.swift`.
///
/// A range that a rule has replaced or skipped is not scanned again, and look-ahead is bounded. So the scan takes
/// linear time.
struct SecretScanner {
    /// The kind of text, which decides what ends an unquoted value.
    enum Place {
        /// Any text: a value ends at a blank, at `&`, or at the quote around the whole text.
        case text
        /// A query, a fragment or a form: a value ends only at `&`.
        case form
        /// A URL before its query: a value ends at a blank, at `&`, at a slash or at a semicolon.
        case path
    }

    let place: Place
    let redactor: Redactor
    let bytes: [UInt8]
    let units: [TextUnit]

    /// The index of the current unit.
    var index = 0
    /// The longest range that ``replaceElsewhere(_:from:)`` has replaced.
    private var elsewhere = 0..<0
    /// The last `"name": "…"`, if it announced a secret, so that the next `"value": …` is secret.
    var announcement: Announcement?
    /// The secret keys whose ends the scan has not reached yet.
    ///
    /// The scan continues within a key, because the key may itself contain secrets. The same applies to `pendingTag`.
    var pendingKeys: [(close: Int, value: Int)] = []
    var pendingTag: (name: Range<Int>, end: Int)?
    /// The index up to which replaced ranges were searched for keys.
    var notedEnd = 0
    /// The value to replace next.
    var pendingValue: (start: Int, level: TextUnit.Level)?
    /// The open double and single quotes.
    var openQuotes: [UInt8: TextUnit.Level] = [:]
    /// The end of the last run without blanks, and its last `@`.
    var runEnd = 0
    var runLastAt: Int?

    /// The names of a token endpoint's response that the text has so far; see `SecretScanner+Pairs.swift`.
    var tokenNames: Set<String> = []
    /// The keys `access` and `refresh` whose values are secret if the text turns out to be such a response.
    var tokenKeys: [(close: Int, value: Int)] = []
    /// The index after the last name that announced the value before it.
    var announcedEnd = 0

    /// The replaced ranges, in order once the scan has ended.
    private(set) var places: [Redactor.SecretPlace] = []

    init(_ bytes: [UInt8], in place: Place, redactor: Redactor) {
        self.place = place
        self.redactor = redactor
        self.bytes = bytes
        units = TextUnit.units(of: bytes, decodesEntities: place == .text)
    }

    /// The redacted text; nil if the original contains no secrets.
    ///
    /// - Parameter limit: The number of bytes of the original to return; all by default. A secret that begins within
    ///   them is replaced, even if the text says that it is secret only after them.
    mutating func run(upTo limit: Int = .max) -> [UInt8]? {
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
            case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: ">"):
                passBracket()
                index += 1
            case let byte where Self.isName(byte): passWord()
            default: index += 1
            }
        }
        guard !places.isEmpty else { return nil }
        places = Redactor.SecretPlace.united(places)
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var copied = 0
        for place in places where place.range.lowerBound < limit {
            output += bytes[copied..<place.range.lowerBound]
            output += place.quote
            output += Redactor.replacement.utf8
            output += place.quote
            copied = place.range.upperBound
        }
        return output + bytes[copied..<max(copied, min(limit, bytes.count))]
    }

    /// Replaces a range of units and moves the index after it.
    ///
    /// If `quote`, the index of a key's quote, is given, the replacement is put in the same quotes.
    ///
    /// Units that were already replaced are skipped.
    mutating func replace(_ whole: Range<Int>, quotedLike quote: Int? = nil) {
        let start = max(whole.lowerBound, index)
        let range = start..<max(whole.upperBound, start)
        index = range.upperBound
        guard !range.isEmpty else { return }
        let marks = quote.map { bytes[offset($0)..<offset($0 + 1)] } ?? []
        let replaced = offset(range.lowerBound)..<offset(range.upperBound)
        places.append(Redactor.SecretPlace(range: replaced, quote: Array(marks)))
    }

    /// Replaces a value that the scan has passed, or has not reached yet, and continues where it was.
    ///
    /// Many values may begin within one that ends with the text. These are not scanned again, so the time is linear.
    mutating func replaceElsewhere(_ replace: (inout SecretScanner) -> Void, from start: Int) {
        guard !elsewhere.contains(start) else { return }
        let (old, oldPending) = (index, pendingValue)
        index = start
        replace(&self)
        if index - start > elsewhere.count { elsewhere = start..<index }
        (index, pendingValue) = (old, oldPending)
    }

    private func offset(_ index: Int) -> Int {
        index < units.count ? units[index].start : bytes.count
    }
}

extension SecretScanner {
    private static let nameBytes = ByteSet("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.[]$")
    private static let telltales = ByteSet("=:%@\"'<\\& ")

    /// Whether a byte can be part of an unquoted name.
    static func isName(_ byte: UInt8) -> Bool {
        byte >= 0x80 || nameBytes.contains(byte)
    }

    /// Whether the text can contain secrets.
    static func mayHoldSecrets(_ bytes: [UInt8]) -> Bool {
        bytes.contains(where: telltales.contains) || bytes.count >= minimumTokenCount
    }

    /// The minimum length of a JSON web token.
    static let minimumTokenCount = 20

    static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }
    static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    static func isNewline(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }
    static func isDigit(_ byte: UInt8) -> Bool { ByteSet.decimalDigits.contains(byte) }

    func byte(_ index: Int) -> UInt8? {
        units.indices.contains(index) ? units[index].byte : nil
    }

    /// The index of the first unit, from `start` on, that passes a test; otherwise the end.
    func first(from start: Int, where test: (TextUnit) -> Bool) -> Int {
        var index = start
        while index < units.count, !test(units[index]) { index += 1 }
        return index
    }

    func text(_ range: Range<Int>) -> String {
        String(decoding: units[range].map(\.byte), as: UTF8.self)
    }

    /// The closing quote; nil if the text or the limit ends first.
    func closing(of quote: Int, limit: Int = .max) -> Int? {
        let opener = units[quote]
        let end = limit < units.count - quote ? quote + limit : units.count
        return (quote + 1..<max(end, quote + 1)).first {
            units[$0].byte == opener.byte && units[$0].level.isWithin(opener.level)
        }
    }

    /// Whether a quote ends the quoted text that is open around a value; `level` is the level of the value.
    func closesOpenQuote(_ unit: TextUnit, level: TextUnit.Level) -> Bool {
        guard Self.isQuote(unit.byte), let opener = openQuotes[unit.byte] else { return false }
        return unit.level.isWithin(opener) && unit.level.isWithin(level)
    }

    /// Updates the open quotes; a single quote after a letter is an apostrophe.
    mutating func note(_ quote: Int) {
        let unit = units[quote]
        if let level = openQuotes[unit.byte] {
            if unit.level.isWithin(level) { openQuotes[unit.byte] = nil }
        } else if unit.byte == UInt8(ascii: "\"") || !(byte(quote - 1).map(Self.isName) ?? false) {
            openQuotes[unit.byte] = unit.level
        }
    }
}
