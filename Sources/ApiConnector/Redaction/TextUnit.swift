// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A decoded character of a text, with its encoding.
struct TextUnit {
    /// How often a character is encoded in each way; 7 means 7 or more.
    struct Level: Equatable {
        /// `%22`, `%2522`.
        var percent: UInt8 = 0
        /// `\"`, `\\\"`, `\u0022`.
        var escape: UInt8 = 0
        /// `&quot;`.
        var entity: UInt8 = 0

        /// Whether a character of this level can end a value or a quoted text that begins at the other level.
        ///
        /// A character that is encoded more often than the beginning is a part of the content: in `"a\"b"`, the escaped
        /// quote does not end the text.
        func isWithin(_ other: Level) -> Bool {
            percent <= other.percent && escape <= other.escape && entity <= other.entity
        }
    }

    /// The decoded byte; a non-ASCII character is several units.
    var byte: UInt8
    var level = Level()
    /// The offset of the character's first byte in the text.
    var start: Int

    /// Splits a text into units, with one pass for percent escapes and entities, and one pass for backslashes.
    ///
    /// Entities such as `&amp;` are decoded only on request: in a form, decoding would hide the `&`.
    static func units(of bytes: [UInt8], decodesEntities: Bool) -> [TextUnit] {
        let units = decoded(bytes, decodesEntities)
        return units.contains { $0.byte == UInt8(ascii: "\\") } ? unescaped(units) : units
    }

    private static func decoded(_ bytes: [UInt8], _ decodesEntities: Bool) -> [TextUnit] {
        var units: [TextUnit] = []
        units.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            var unit = TextUnit(byte: byte, start: index)
            var end = index + 1
            if byte == UInt8(ascii: "%"), let (value, level, length) = percentEncoded(bytes, at: index) {
                unit.byte = value
                unit.level.percent = UInt8(min(level, 7))
                end = index + length
            } else if decodesEntities, byte == UInt8(ascii: "&"),
                let (value, length) = TextEncoding.entity(at: index, of: bytes)
            {
                unit.byte = value
                unit.level.entity = 1
                end = index + length
            }
            units.append(unit)
            index = end
        }
        return units
    }

    private static func percentEncoded(_ bytes: [UInt8], at start: Int) -> (UInt8, level: Int, length: Int)? {
        guard var byte = TextEncoding.number(bytes, start + 1, digitCount: 2) else { return nil }
        var index = start + 3
        var level = 1
        while byte == TextEncoding.percent.rawValue, let next = TextEncoding.number(bytes, index, digitCount: 2) {
            byte = next
            index += 2
            level += 1
        }
        return (UInt8(truncatingIfNeeded: byte), level, index - start)
    }
}

extension TextUnit {
    private static func unescaped(_ units: [TextUnit]) -> [TextUnit] {
        var result: [TextUnit] = []
        result.reserveCapacity(units.count)
        var index = 0
        while index < units.count {
            guard units[index].byte == UInt8(ascii: "\\") else {
                result.append(units[index])
                index += 1
                continue
            }
            let level = units[index].level
            var end = index
            while end < units.count, units[end].byte == UInt8(ascii: "\\"), units[end].level == level { end += 1 }
            if end < units.count, units[end].level == level {
                index = append(units, escapedBy: index..<end, to: &result)
            } else {
                result += units[index..<end]
                index = end
            }
        }
        return result
    }

    /// Appends a run of backslashes together with the character that it escapes, if any; returns the next index.
    private static func append(_ units: [TextUnit], escapedBy backslashes: Range<Int>, to result: inout [TextUnit])
        -> Int
    {
        var unit = units[backslashes.upperBound]
        let next = backslashes.upperBound + 1
        var start = backslashes.lowerBound
        // `\n` is one level deep, `\\n` two levels, and `\\\\n` three.
        var depth = Int.bitWidth - backslashes.count.leadingZeroBitCount
        switch unit.byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            (depth, start) = quoteDepth(backslashes)
        case UInt8(ascii: "/"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            unit.byte = TextEncoding.escaped(unit.byte) ?? unit.byte
        case UInt8(ascii: "u"):
            guard let code = code(units, at: next, level: unit.level) else { fallthrough }
            unit.level.escape = UInt8(min(depth, 7))
            unit.start = units[start].start
            for byte in String(Unicode.Scalar(code).map(Character.init) ?? "\u{FFFD}").utf8 {
                unit.byte = byte
                result.append(unit)
            }
            return next + 4
        default:
            result += units[backslashes]
            return backslashes.upperBound
        }
        result += units[backslashes.lowerBound..<start]
        unit.level.escape = UInt8(min(depth, 7))
        unit.start = units[start].start
        result.append(unit)
        return next
    }

    /// The depth of a quote after backslashes, and the index of the first backslash that belongs to it.
    ///
    /// Each level of encoding turns *n* backslashes before a quote into 2*n* + 1. After an even number, the quote is
    /// not escaped, and the backslashes stand for themselves.
    private static func quoteDepth(_ backslashes: Range<Int>) -> (depth: Int, start: Int) {
        var count = backslashes.count
        var depth = 0
        while !count.isMultiple(of: 2) {
            count = (count - 1) / 2
            depth += 1
        }
        return (depth, backslashes.upperBound - (1 << depth - 1))
    }

    /// The four hexadecimal digits of `\u0022`.
    private static func code(_ units: [TextUnit], at index: Int, level: Level) -> UInt16? {
        guard index + 4 <= units.count else { return nil }
        return units[index..<index + 4].reduce(0 as UInt16?) { code, unit in
            guard let code, unit.level == level, let digit = TextEncoding.hexadecimal(unit.byte) else { return nil }
            return code << 4 | UInt16(digit)
        }
    }
}
