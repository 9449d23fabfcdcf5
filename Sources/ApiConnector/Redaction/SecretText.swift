// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A text that may contain secrets, as decoded characters.
///
/// It says where quoted texts, values and lines begin and end. ``SecretScanner`` decides which of them are secret.
struct SecretText {
    /// The kind of text, which decides what ends an unquoted value.
    enum Place {
        /// Any text: a value ends at a blank, at `&`, or at the quote around the whole text.
        case text
        /// A query, a fragment or a form: a value ends only at `&`.
        case form
        /// A URL before its query: a value ends at a blank, at `&`, at a slash or at a semicolon.
        case path
    }

    /// A name in quotes and the place of its value, as in `"name": "value"`.
    struct Key {
        let name: String
        /// The index of the closing quote.
        let close: Int
        /// The index at which the value begins.
        let value: Int
    }

    /// The value of a ``Key``.
    struct Value {
        /// The part of the value that a secret takes; empty if there is none.
        let content: Range<Int>
        /// The index after the value.
        let end: Int
        /// The quote that a replacement needs on both sides; nil for none.
        var quote: Int?
        /// The string with its quotes, in which further keys may begin.
        var string: Range<Int>?
    }

    let place: Place
    let bytes: [UInt8]
    let units: [TextUnit]

    init(_ bytes: [UInt8], in place: Place) {
        self.place = place
        self.bytes = bytes
        units = TextUnit.units(of: bytes, decodesEntities: place == .text)
    }

    /// The number of characters.
    var count: Int { units.count }

    func byte(_ index: Int) -> UInt8? {
        units.indices.contains(index) ? units[index].byte : nil
    }

    /// The last byte before an index that is not skipped; nil if there is none.
    func byte(before index: Int, skipping isSkipped: (UInt8) -> Bool) -> UInt8? {
        units[..<index].last { !isSkipped($0.byte) }?.byte
    }

    /// The offset of a character in the bytes.
    func offset(_ index: Int) -> Int {
        index < units.count ? units[index].start : bytes.count
    }

    func string(_ range: Range<Int>) -> String {
        String(decoding: units[range].map(\.byte), as: UTF8.self)
    }

    /// The index of the first character, from `start` on, that passes a test; otherwise the end.
    func first(from start: Int, where test: (TextUnit) -> Bool) -> Int {
        var index = start
        while index < units.count, !test(units[index]) { index += 1 }
        return index
    }

    /// Whether an ASCII text is at an index.
    func begins(_ text: StaticString, at start: Int) -> Bool {
        let end = start + text.utf8CodeUnitCount
        guard end <= units.count else { return false }
        return (start..<end).allSatisfy { units[$0].byte == text.utf8Start[$0 - start] }
    }

    func blanksEnd(_ start: Int, limit: Int = .max, _ isBlank: (UInt8) -> Bool = Self.isBlank) -> Int {
        var end = start
        while end - start < limit, let byte = byte(end), isBlank(byte) { end += 1 }
        return end
    }
}

// MARK: - Names and strings

extension SecretText {
    /// The maximum length of a name; longer words and keys are not names.
    static let maximumNameCount = 256

    /// The key that a quote opens; nil if the quoted text is not a key.
    func key(openedBy quote: Int) -> Key? {
        guard let close = closing(of: quote, limit: Self.maximumNameCount) else { return nil }
        let separator = blanksEnd(close + 1, limit: Self.maximumNameCount) { Self.isBlank($0) || Self.isNewline($0) }
        guard isSeparator(separator) else { return nil }
        return Key(name: string(quote + 1..<close), close: close, value: valueStart(after: separator))
    }

    /// The closing quote; nil if the text or the limit ends first.
    func closing(of quote: Int, limit: Int = .max) -> Int? {
        let opener = units[quote]
        let end = limit < units.count - quote ? quote + limit : units.count
        return (quote + 1..<max(end, quote + 1)).first {
            units[$0].byte == opener.byte && units[$0].level.isWithin(opener.level)
        }
    }

    /// Whether a value begins with a quote or as an array.
    func isTextOrArray(_ value: Int) -> Bool {
        byte(value).map { Self.isQuote($0) || $0 == UInt8(ascii: "[") } == true
    }

    func isSeparator(_ index: Int) -> Bool {
        byte(index) == UInt8(ascii: ":") || byte(index) == UInt8(ascii: "=")
    }

    /// Whether a quote at this index begins a string.
    ///
    /// The quote may be escaped. A quote that is percent-encoded or an entity begins a string only if the text around
    /// it is encoded in the same way.
    func opensString(_ index: Int, level: TextUnit.Level) -> Bool {
        guard let byte = byte(index), Self.isQuote(byte) else { return false }
        return units[index].level.percent <= level.percent && units[index].level.entity <= level.entity
    }

    /// Whether a name is the first word of its line or of a quoted text.
    func startsLine(_ index: Int) -> Bool {
        let previous = byte(before: index) { Self.isBlank($0) || Self.lineMarks.contains($0) }
        return previous.map { Self.isNewline($0) || Self.isQuote($0) } ?? true
    }

    /// Marks before header lines in the output of tools, and before the elements of a list in YAML.
    private static let lineMarks = ByteSet("<>*-")
}

// MARK: - Values

extension SecretText {
    /// The index after `:`, `=`, `==` or `=>` and the following blanks.
    func valueStart(after separator: Int, skippingBlanks: Bool? = nil) -> Int {
        var start = separator + 1
        if byte(separator) == UInt8(ascii: "=") {
            start = blanksEnd(start, limit: 2) { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ">") }
        }
        switch skippingBlanks {
        case nil: return blanksEnd(start) { Self.isBlank($0) || Self.isNewline($0) }
        case true?: return blanksEnd(start)
        case false?: return start
        }
    }

    /// The value of a quoted key: a string's content, an object, an array or a number, but not null or a Boolean.
    ///
    /// - Parameters:
    ///   - start: The index of the value.
    ///   - key: The index of a quote of the key.
    func value(at start: Int, key: Int) -> Value {
        let level = units[key].level
        guard let first = byte(start) else { return Value(content: start..<start, end: start) }
        if opensString(start, level: level) { return string(openedBy: start) }
        if Self.isBracket(first) {
            let end = containerEnd(from: start, level: level)
            return Value(content: start..<end, end: end, quote: key)
        }
        var end = self.first(from: start) { unit in
            guard unit.level.isWithin(level) else { return false }
            return Self.literalEnds.contains(unit.byte) || Self.isNewline(unit.byte)
                || Self.isQuote(unit.byte) && unit.level != level
        }
        let content = string(start..<end).trimmingCharacters(in: .whitespaces)
        if ["null", "true", "false"].contains(content) { return Value(content: end..<end, end: end) }
        if !content.utf8.allSatisfy({ Self.isName($0) || $0 == UInt8(ascii: "+") }) {
            // Not a number: the unknown value may itself contain commas and brackets.
            end = self.first(from: end) { unit in
                unit.level == TextUnit.Level() && (Self.isTextEnd(unit.byte) || Self.isQuote(unit.byte))
            }
        }
        return Value(content: start..<end, end: end, quote: key)
    }

    /// The string that a quote opens; it ends with the text if it is cut off.
    func string(openedBy quote: Int) -> Value {
        let close = closing(of: quote) ?? units.count
        let string = quote..<min(close + 1, units.count)
        // A quote of a lower level also ends the text around this string, so the scan continues at that quote.
        let isClosed = close < units.count && units[close].level == units[quote].level
        return Value(content: quote + 1..<close, end: isClosed ? close + 1 : close, string: string)
    }

    /// The end of an object or an array, skipping its strings; the end of the text if it is cut off.
    func containerEnd(from start: Int, level: TextUnit.Level) -> Int {
        var depth = 0
        var index = start
        while index < units.count {
            let unit = units[index]
            switch unit.byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 0 { return index + 1 }
            case UInt8(ascii: "\"") where unit.level.isWithin(level):
                guard unit.level == level, let close = closing(of: index) else {
                    return unit.level == level ? units.count : index
                }
                index = close
            default: break
            }
            index += 1
        }
        return index
    }

    /// The end of an unquoted value.
    ///
    /// In a text, `isEnd` decides. In a path, a slash or a semicolon also ends the value. In a form, only `&` does.
    func valueEnd(
        from start: Int,
        level: TextUnit.Level,
        in quotes: OpenQuotes,
        _ isEnd: (UInt8) -> Bool = Self.isTextEnd
    ) -> Int {
        first(from: start) { unit in
            guard unit.level.isWithin(level) else { return false }
            switch place {
            case .text: return isEnd(unit.byte) || quotes.end(with: unit, level: level)
            case .form: return unit.byte == UInt8(ascii: "&")
            case .path: return isEnd(unit.byte) || Self.pathEnds.contains(unit.byte)
            }
        }
    }

    /// The end of a line's value, which may continue on lines with a deeper indentation: a folded header field, or a
    /// block of YAML.
    ///
    /// - Parameters:
    ///   - start: The beginning of the value. If it is `|` or `>`, the block may have empty lines.
    ///   - name: The beginning of the name.
    func foldedEnd(from start: Int, nameAt name: Int, level: TextUnit.Level, in quotes: OpenQuotes) -> Int {
        var end = valueEnd(from: start, level: level, in: quotes, Self.isNewline)
        guard place == .text else { return end }
        let isBlock = byte(start) == UInt8(ascii: "|") || byte(start) == UInt8(ascii: ">")
        var lineStart = name
        while let byte = byte(lineStart - 1), !Self.isNewline(byte), !Self.isQuote(byte) { lineStart -= 1 }
        let indentation = name - lineStart
        var next = end
        while let newline = byte(next), Self.isNewline(newline), units[next].level.isWithin(level) {
            next += newline == UInt8(ascii: "\r") && byte(next + 1) == UInt8(ascii: "\n") ? 2 : 1
            let text = blanksEnd(next)
            guard let first = byte(text) else { break }
            if Self.isNewline(first) {
                guard isBlock else { break }
                next = text
                continue
            }
            guard text - next > indentation else { break }
            end = valueEnd(from: text, level: level, in: quotes, Self.isNewline)
            next = end
        }
        return end
    }

    private static let literalEnds = ByteSet(",}]")
    private static let pathEnds = ByteSet("/;")
}

// MARK: - Hosts, tags and parameters

extension SecretText {
    /// Whether one to five digits at an index are a word: `8080`, but not `9f8e` and not `4/0AX4`, which is a code.
    func isPort(_ start: Int) -> Bool {
        let end = first(from: start) { !Self.isDigit($0.byte) }
        let isWord = byte(end).map { !Self.isName($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "]") } ?? true
        return 1...5 ~= end - start && isWord && (end - start > 1 || byte(end) != UInt8(ascii: "/"))
    }

    /// Whether the range is a host with an optional port.
    func isHost(_ range: Range<Int>) -> Bool {
        guard !isTokenStart(range.lowerBound) else { return false }
        let end = first(from: range.lowerBound) { !Self.isName($0.byte) && $0.byte != UInt8(ascii: "~") }
        if end >= range.upperBound { return true }
        let isAddress = byte(range.lowerBound) == UInt8(ascii: "[")
        return units[end..<range.upperBound].allSatisfy {
            Self.isDigit($0.byte) || $0.byte == UInt8(ascii: ":") || isAddress && Self.addressBytes.contains($0.byte)
        }
    }

    private static let addressBytes = ByteSet("abcdefABCDEF.]%")

    /// The index of `</name`, or the end of the text.
    func closingTag(of name: Range<Int>, from start: Int) -> Int {
        let wanted = units[name].map(\.byte)
        var index = start
        while true {
            index = first(from: index) { $0.byte == UInt8(ascii: "<") }
            guard index < units.count else { return index }
            let end = index + 2 + wanted.count
            if byte(index + 1) == UInt8(ascii: "/"), end <= units.count,
                units[index + 2..<end].elementsEqual(wanted, by: { $0.byte == $1 })
            {
                return index
            }
            index += 1
        }
    }

    /// Whether a name follows a semicolon, as in `form-data; name=password`.
    func isParameter(_ start: Int) -> Bool {
        byte(before: start, skipping: Self.isBlank) == UInt8(ascii: ";")
    }
}

// MARK: - Kinds of characters

extension SecretText {
    private static let nameBytes = ByteSet("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.[]$")

    /// Whether a byte can be part of an unquoted name.
    static func isName(_ byte: UInt8) -> Bool {
        byte >= 0x80 || nameBytes.contains(byte)
    }

    static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }
    static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    static func isNewline(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }
    static func isDigit(_ byte: UInt8) -> Bool { ByteSet.decimalDigits.contains(byte) }
    static func isBracket(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") }

    static func isTextEnd(_ byte: UInt8) -> Bool {
        isBlank(byte) || isNewline(byte) || byte == UInt8(ascii: "&")
    }
}

/// The quotes that are open at a place in a text.
struct OpenQuotes {
    private var levels: [UInt8: TextUnit.Level] = [:]

    var isEmpty: Bool { levels.isEmpty }

    /// Whether a quote ends the quoted text that is open around a value; `level` is the level of the value.
    func end(with unit: TextUnit, level: TextUnit.Level) -> Bool {
        guard SecretText.isQuote(unit.byte), let opener = levels[unit.byte] else { return false }
        return unit.level.isWithin(opener) && unit.level.isWithin(level)
    }

    /// Opens or closes a quoted text; a single quote after a letter is an apostrophe.
    mutating func pass(_ quote: Int, of text: SecretText) {
        let unit = text.units[quote]
        if let level = levels[unit.byte] {
            if unit.level.isWithin(level) { levels[unit.byte] = nil }
        } else if unit.byte == UInt8(ascii: "\"") || !(text.byte(quote - 1).map(SecretText.isName) ?? false) {
            levels[unit.byte] = unit.level
        }
    }
}
