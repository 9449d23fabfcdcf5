// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// How a text can be encoded within another text; the raw value is the first byte of an encoded character.
package enum TextEncoding: UInt8, CaseIterable {
    /// `%22`, as in a URL.
    case percent = 0x25
    /// `\"`, as in a string of JSON.
    case escape = 0x5C
    /// `&quot;`, as in XML.
    case entity = 0x26

    /// The length of an encoded character; each half of a surrogate pair counts separately.
    static let byteCounts = 2...6

    /// The character that begins at an index, and its encoded length; nil if there is none.
    func character(at index: Int, of bytes: [UInt8]) -> (bytes: [UInt8], count: Int)? {
        switch self {
        case .percent:
            return Self.number(bytes, index + 1, digitCount: 2).map { ([UInt8(truncatingIfNeeded: $0)], 3) }
        case .escape:
            guard index + 1 < bytes.count else { return nil }
            if bytes[index + 1] == UInt8(ascii: "u") { return Self.codePoint(bytes, at: index) }
            return Self.escaped(bytes[index + 1]).map { ([$0], 2) }
        case .entity:
            return Self.entity(at: index, of: bytes).map { ([$0.byte], $0.count) }
        }
    }

    /// The number with hexadecimal digits at an index; nil if there are fewer digits.
    package static func number(_ bytes: [UInt8], _ start: Int, digitCount: Int) -> UInt16? {
        guard start + digitCount <= bytes.count else { return nil }
        var number: UInt16 = 0
        for byte in bytes[start..<start + digitCount] {
            guard let digit = hexadecimal(byte) else { return nil }
            number = number << 4 | UInt16(digit)
        }
        return number
    }

    /// The value of a hexadecimal digit; nil for any other byte.
    package static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The byte that a backslash before `letter` stands for; nil for `u` and for a letter without a meaning.
    package static func escaped(_ letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    /// The character of the entity whose `&` is at an index, and the length of the entity; nil if there is none.
    package static func entity(at index: Int, of bytes: [UInt8]) -> (byte: UInt8, count: Int)? {
        guard let end = bytes[index...].prefix(byteCounts.upperBound).firstIndex(of: UInt8(ascii: ";")),
            let byte = entities[bytes[index + 1..<end]]
        else { return nil }
        return (byte, end + 1 - index)
    }

    /// `\u00e9`, or `\ud83d\udd11`, which is one character.
    private static func codePoint(_ bytes: [UInt8], at index: Int) -> (bytes: [UInt8], count: Int)? {
        func unit(_ index: Int) -> UInt16? {
            guard index + 1 < bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u")
            else { return nil }
            return number(bytes, index + 2, digitCount: 4)
        }
        guard let first = unit(index) else { return nil }
        guard UTF16.isLeadSurrogate(first), let second = unit(index + 6), UTF16.isTrailSurrogate(second) else {
            return (Array(String(decoding: [first], as: UTF16.self).utf8), 6)
        }
        return (Array(String(decoding: [first, second], as: UTF16.self).utf8), 12)
    }

    /// The characters by the names between `&` and `;`.
    private static let entities: [ArraySlice<UInt8>: UInt8] = [
        "quot": "\"", "#34": "\"", "#x22": "\"", "apos": "'", "#39": "'", "#x27": "'",
        "amp": "&", "#38": "&", "lt": "<", "gt": ">",
    ].reduce(into: [:]) { (table, entity: (key: String, value: Unicode.Scalar)) in
        table[Array(entity.key.utf8)[...]] = UInt8(ascii: entity.value)
    }
}
