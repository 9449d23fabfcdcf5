// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A JSON value with its place in the text.
package struct LocatedJSON {
    package enum Content {
        case null
        case bool(Bool)
        case number(Double)
        case string(String)
        case array([LocatedJSON])
        case object([(key: String, value: LocatedJSON)])
    }

    package let content: Content
    /// The range of the value in the text, including a string's quotes.
    package let range: Range<Int>

    /// The value of a key; the last value if the key occurs more than once.
    ///
    /// Nil if the key is missing or this value is not an object.
    subscript(key: String) -> LocatedJSON? {
        guard case .object(let members) = content else { return nil }
        return members.last { $0.key == key }?.value
    }

    var string: String? { if case .string(let value) = content { value } else { nil } }
    /// It is never inlined.
    ///
    /// Otherwise, in a release build, the optimizer of Swift 6.3.1 stops with an ownership error.
    @inline(never)
    var number: Double? { if case .number(let value) = content { value } else { nil } }
    var array: [LocatedJSON]? { if case .array(let value) = content { value } else { nil } }
    var isNull: Bool { if case .null = content { true } else { false } }
    var isContainer: Bool {
        switch content {
        case .array, .object: true
        default: false
        }
    }
}

/// The reason why a text is not JSON.
package struct JSONFlaw: Error {
    let offset: Int
    let reason: String
}

/// Parses JSON (RFC 8259).
///
/// In strings it is lenient: invalid Unicode becomes U+FFFD, and control characters are accepted.
package struct LocatedJSONParser {
    /// Deeper nesting is refused, so that it cannot exhaust the stack.
    static let maximumDepth = 256

    private let bytes: [UInt8]
    private var index: Int
    private let end: Int

    /// Parses a range of a text that contains a single value.
    package static func value(in bytes: [UInt8], _ range: Range<Int>? = nil) throws(JSONFlaw) -> LocatedJSON {
        let range = range ?? 0..<bytes.count
        var parser = LocatedJSONParser(bytes: bytes, index: range.lowerBound, end: range.upperBound)
        let value = try parser.value(depth: 0)
        parser.skipBlanks()
        guard parser.index == parser.end else { throw parser.flaw("there is text after the end of the JSON") }
        return value
    }

    private init(bytes: [UInt8], index: Int, end: Int) {
        self.bytes = bytes
        self.index = index
        self.end = end
    }

    private func flaw(_ reason: String, at offset: Int? = nil) -> JSONFlaw {
        JSONFlaw(offset: offset ?? index, reason: reason)
    }

    private var byte: UInt8? { index < end ? bytes[index] : nil }

    private mutating func skipBlanks() {
        while let byte, byte == 0x20 || 0x09...0x0A ~= byte || byte == 0x0D { index += 1 }
    }

    private mutating func value(depth: Int) throws(JSONFlaw) -> LocatedJSON {
        skipBlanks()
        guard depth < Self.maximumDepth else { throw flaw("it is nested deeper than \(Self.maximumDepth) levels") }
        let start = index
        let content: LocatedJSON.Content
        guard let first = byte else { throw flaw("it ends where a value was expected") }
        switch first {
        case UInt8(ascii: "{"): content = try object(depth)
        case UInt8(ascii: "["): content = try array(depth)
        case UInt8(ascii: "\""): content = .string(try string())
        case UInt8(ascii: "t"): content = try word("true", .bool(true))
        case UInt8(ascii: "f"): content = try word("false", .bool(false))
        case UInt8(ascii: "n"): content = try word("null", .null)
        case UInt8(ascii: "-"), 0x30...0x39: content = try number()
        default: throw flaw("a value was expected")
        }
        return LocatedJSON(content: content, range: start..<index)
    }

    private mutating func word(_ text: String, _ content: LocatedJSON.Content) throws(JSONFlaw) -> LocatedJSON.Content {
        let length = text.utf8.count
        guard index + length <= end, bytes[index..<index + length].elementsEqual(text.utf8) else {
            throw flaw("a value was expected")
        }
        index += length
        return content
    }

    private mutating func number() throws(JSONFlaw) -> LocatedJSON.Content {
        let start = index
        while let byte, 0x30...0x39 ~= byte || [0x2B, 0x2D, 0x2E, 0x45, 0x65].contains(byte) { index += 1 }
        guard let number = Double(String(decoding: bytes[start..<index], as: UTF8.self)) else {
            throw flaw("a number was expected", at: start)
        }
        return .number(number)
    }

    private mutating func array(_ depth: Int) throws(JSONFlaw) -> LocatedJSON.Content {
        index += 1
        var values: [LocatedJSON] = []
        skipBlanks()
        if take(UInt8(ascii: "]")) { return .array([]) }
        while true {
            values.append(try value(depth: depth + 1))
            skipBlanks()
            if take(UInt8(ascii: "]")) { return .array(values) }
            guard take(UInt8(ascii: ",")) else { throw flaw("\",\" or \"]\" was expected") }
        }
    }

    private mutating func object(_ depth: Int) throws(JSONFlaw) -> LocatedJSON.Content {
        index += 1
        var members: [(key: String, value: LocatedJSON)] = []
        skipBlanks()
        if take(UInt8(ascii: "}")) { return .object([]) }
        while true {
            skipBlanks()
            guard byte == UInt8(ascii: "\"") else { throw flaw("a key in quotes was expected") }
            let key = try string()
            skipBlanks()
            guard take(UInt8(ascii: ":")) else { throw flaw("\":\" was expected") }
            members.append((key, try value(depth: depth + 1)))
            skipBlanks()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else { throw flaw("\",\" or \"}\" was expected") }
        }
    }

    private mutating func take(_ wanted: UInt8) -> Bool {
        guard byte == wanted else { return false }
        index += 1
        return true
    }

    private mutating func string() throws(JSONFlaw) -> String {
        let start = index
        index += 1
        var text: [UInt8] = []
        // The index of the next quote. It is searched for again only after an escaped quote, because a body may be full
        // of escapes.
        var nearest = first(UInt8(ascii: "\""), before: end)
        while let quote = nearest {
            let stop = first(UInt8(ascii: "\\"), before: quote) ?? quote
            text += bytes[index..<stop]
            index = stop
            if stop == quote {
                index += 1
                return String(decoding: text, as: UTF8.self)
            }
            try appendEscape(to: &text)
            if index > quote { nearest = first(UInt8(ascii: "\""), before: end) }
        }
        throw flaw("a string does not end", at: start)
    }

    /// The next index of a byte.
    ///
    /// It uses memchr, because bodies are large.
    private func first(_ byte: UInt8, before end: Int) -> Int? {
        guard index < end else { return nil }
        return bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress, let found = memchr(base + index, Int32(byte), end - index) else {
                return nil
            }
            return UnsafeRawPointer(found) - base
        }
    }

    private mutating func appendEscape(to text: inout [UInt8]) throws(JSONFlaw) {
        let start = index
        index += 2
        switch start + 1 < end ? bytes[start + 1] : 0 {
        case UInt8(ascii: "\""): text.append(UInt8(ascii: "\""))
        case UInt8(ascii: "\\"): text.append(UInt8(ascii: "\\"))
        case UInt8(ascii: "/"): text.append(UInt8(ascii: "/"))
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            var units = [try codeUnit(start)]
            if UTF16.isLeadSurrogate(units[0]), index + 1 < end, bytes[index] == UInt8(ascii: "\\"),
                bytes[index + 1] == UInt8(ascii: "u")
            {
                let next = index
                index += 2
                let second = try codeUnit(next)
                if UTF16.isTrailSurrogate(second) { units.append(second) } else { index = next }
            }
            text += String(decoding: units, as: UTF16.self).utf8
        default: throw flaw("the escape is unknown", at: start)
        }
    }

    /// The value of the four digits after a `\u` at `start`.
    private mutating func codeUnit(_ start: Int) throws(JSONFlaw) -> UInt16 {
        guard index + 4 <= end,
            let unit = UInt16(String(decoding: bytes[index..<index + 4], as: UTF8.self), radix: 16),
            bytes[index] != UInt8(ascii: "+")
        else { throw flaw("four hexadecimal digits were expected after \\u", at: start) }
        index += 4
        return unit
    }
}
