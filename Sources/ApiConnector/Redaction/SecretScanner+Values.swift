// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The beginnings and ends of values.
extension SecretScanner {
    func blanksEnd(_ start: Int, limit: Int = .max, _ isBlank: (UInt8) -> Bool) -> Int {
        var end = start
        while end - start < limit, let byte = byte(end), isBlank(byte) { end += 1 }
        return end
    }

    /// The index after `:`, `=`, `==` or `=>` and the following blanks.
    func valueStart(behind separator: Int, skippingBlanks: Bool? = nil) -> Int {
        var start = separator + 1
        if byte(separator) == UInt8(ascii: "=") {
            start = blanksEnd(start, limit: 2) { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ">") }
        }
        switch skippingBlanks {
        case nil: return blanksEnd(start) { Self.isBlank($0) || Self.isNewline($0) }
        case true?: return blanksEnd(start, Self.isBlank)
        case false?: return start
        }
    }

    /// Replaces the value of a quoted key: a string's content, an object, an array or a number, but not null or a
    /// Boolean.
    mutating func replaceKeyedValue(at value: Int, key: Int) {
        guard let first = byte(value) else { return index = max(index, value) }
        if opensString(value, level: units[key].level) { return replaceString(at: value) }
        if Self.isBracket(first) {
            return replace(value..<containerEnd(from: value, level: units[key].level), quotedLike: key)
        }
        var end = self.first(from: value) { unit in
            guard unit.level.isWithin(units[key].level) else { return false }
            return Self.literalEnds.contains(unit.byte) || Self.isNewline(unit.byte)
                || Self.isQuote(unit.byte) && unit.level != units[key].level
        }
        let content = text(value..<end).trimmingCharacters(in: .whitespaces)
        if ["null", "true", "false"].contains(content) { return index = max(index, end) }
        if !content.utf8.allSatisfy({ Self.isName($0) || $0 == UInt8(ascii: "+") }) {
            // Not a number: the unknown value may itself contain commas and brackets.
            end = self.first(from: end) { unit in
                unit.level == TextUnit.Level() && (Self.isTextEnd(unit.byte) || Self.isQuote(unit.byte))
            }
        }
        replace(value..<end, quotedLike: key)
    }

    /// Replaces the value of an unquoted name.
    mutating func replaceValue(at value: Int, level: TextUnit.Level) {
        let isRaw = place == .form && level == TextUnit.Level()
        if !isRaw, let first = byte(value), !closesOpenQuote(units[value], level: level) {
            if opensString(value, level: level) { return replaceString(at: value) }
            if Self.isBracket(first) { return replace(value..<containerEnd(from: value, level: level)) }
        }
        let end = valueEnd(from: value, level: level, Self.isTextEnd)
        if place == .text, Self.isScheme(text(value..<min(end, value + 8))) {
            // The word after the name of a scheme is the credential, which the rule for schemes replaces.
            index = value
        } else {
            replaceWord(value..<end, level: level)
        }
    }

    /// Replaces an unquoted value.
    ///
    /// A value that ends with `:` or `=` may end with another name. Then the value of that name is replaced as well.
    mutating func replaceWord(_ word: Range<Int>, level: TextUnit.Level) {
        replace(word)
        guard place == .text, !word.isEmpty else { return }
        noteKeys(in: word)
        if isSeparator(word.upperBound - 1) { pendingValue = (blanksEnd(word.upperBound, Self.isBlank), level) }
    }

    func isSeparator(_ index: Int) -> Bool {
        byte(index) == UInt8(ascii: ":") || byte(index) == UInt8(ascii: "=")
    }

    static func isScheme(_ word: String) -> Bool {
        ["basic", "bearer"].contains(word.lowercased())
    }

    /// Replaces the content of a string.
    mutating func replaceString(at quote: Int) {
        let close = closing(of: quote) ?? units.count
        replace(quote + 1..<close)
        // A quote of a lower level also ends the text around this string, so the scan continues at that quote.
        if close < units.count, units[close].level == units[quote].level { index = max(index, close + 1) }
        noteKeys(in: quote..<min(close + 1, units.count))
    }

    /// Whether a quote at this index begins a string.
    ///
    /// The quote may be escaped. A quote that is percent-encoded or an entity begins a string only if the text around
    /// it is encoded in the same way.
    func opensString(_ index: Int, level: TextUnit.Level) -> Bool {
        guard let byte = byte(index), Self.isQuote(byte) else { return false }
        return units[index].level.percent <= level.percent && units[index].level.entity <= level.entity
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
    func valueEnd(from start: Int, level: TextUnit.Level, _ isEnd: (UInt8) -> Bool) -> Int {
        first(from: start) { unit in
            guard unit.level.isWithin(level) else { return false }
            switch place {
            case .text: return isEnd(unit.byte) || closesOpenQuote(unit, level: level)
            case .form: return unit.byte == UInt8(ascii: "&")
            case .path: return isEnd(unit.byte) || Self.pathEnds.contains(unit.byte)
            }
        }
    }

    static func isBracket(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") }

    static func isTextEnd(_ byte: UInt8) -> Bool {
        isBlank(byte) || isNewline(byte) || byte == UInt8(ascii: "&")
    }

    private static let literalEnds = ByteSet(",}]")
    private static let pathEnds = ByteSet("/;")

    /// Whether a name is the first word of its line or of a quoted text.
    func startsLine(_ index: Int) -> Bool {
        var previous = index - 1
        while let byte = byte(previous), Self.isBlank(byte) || Self.lineMarks.contains(byte) { previous -= 1 }
        return byte(previous).map { Self.isNewline($0) || Self.isQuote($0) } ?? true
    }

    /// Marks before header lines in the output of tools, and before the elements of a list in YAML.
    private static let lineMarks = ByteSet("<>*-")

    /// Whether the base64 text of `{"`, which begins a JSON web token, is at an index.
    func isTokenStart(_ index: Int) -> Bool {
        byte(index) == UInt8(ascii: "e") && byte(index + 1) == UInt8(ascii: "y") && byte(index + 2) == UInt8(ascii: "J")
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

    /// The last at sign before the next blank, at or after an index.
    mutating func lastAt(inRunAt start: Int) -> Int? {
        if start >= runEnd {
            runEnd = first(from: start) { Self.isBlank($0.byte) || Self.isNewline($0.byte) }
            runLastAt = (start..<runEnd).last { units[$0].byte == UInt8(ascii: "@") }
        }
        return runLastAt.flatMap { $0 >= start ? $0 : nil }
    }

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
}
