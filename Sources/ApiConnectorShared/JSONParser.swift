// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A JSON value with its place in the text.
package struct LocatedJSON {
    package enum Content {
        case null
        case bool(Bool)
        /// The nearest double; the digits are at the value's range.
        case number(Double)
        case string(String)
        case array([LocatedJSON])
        /// All members in order, including those with a repeated key.
        case object([(key: String, value: LocatedJSON)])
    }

    package let content: Content
    /// The range of the value in the text, including a string's quotes.
    package let range: Range<Int>

    package init(content: Content, range: Range<Int>) {
        self.content = content
        self.range = range
    }

    /// The value of a key; the first value if the key occurs more than once.
    ///
    /// Nil if the key is missing or this value is not an object.
    package subscript(key: String) -> LocatedJSON? {
        guard case .object(let members) = content else { return nil }
        return members.first { $0.key == key }?.value
    }

    package var string: String? { if case .string(let value) = content { value } else { nil } }
    /// It is never inlined.
    ///
    /// Otherwise, in a release build, the optimizer of Swift 6.3.1 stops with an ownership error.
    @inline(never)
    package var number: Double? { if case .number(let value) = content { value } else { nil } }
    package var array: [LocatedJSON]? { if case .array(let value) = content { value } else { nil } }
    package var isNull: Bool { if case .null = content { true } else { false } }
    package var isContainer: Bool {
        switch content {
        case .array, .object: true
        default: false
        }
    }
}

/// The reason why a text is not JSON.
package struct JSONFlaw: Error {
    package enum Kind: Sendable {
        case tooDeep
        case syntax
    }

    package let kind: Kind
    /// The fault, as the end of a sentence.
    package let reason: String
    /// Where the token with the flaw begins.
    package let start: Int
    /// The number of bytes before the flaw itself.
    package let offset: Int

    package init(_ reason: String, from start: Int, at offset: Int, _ kind: Kind = .syntax) {
        self.kind = kind
        self.reason = reason
        self.start = start
        self.offset = offset
    }
}

/// Parses JSON (RFC 8259) in UTF-8, in linear time.
///
/// It accepts the texts that Foundation's decoder accepts:
///
/// - A byte order mark at the start, and a comma after the last element of an array or an object, are allowed.
/// - A key may be repeated. Readers use the first value.
/// - A number has the grammar of section 6: no leading zeros, and digits before and after a point.
/// - A string has no control characters and no invalid Unicode.
/// - Containers are nested at most 512 deep.
///
/// The last rule for strings does not apply to a lenient parser. It accepts control characters, and replaces invalid
/// Unicode by U+FFFD. Browsers write such strings, and the secrets of a body are found even if its strings are invalid.
package struct JSONParser {
    /// The maximum nesting depth, the same as in Foundation's decoder.
    package static let maximumDepth = 512

    private let bytes: [UInt8]
    private let end: Int
    private let isLenient: Bool
    private var index: Int

    /// Parses a text, or a range of it, that contains a single value.
    package static func value(
        in bytes: [UInt8],
        _ range: Range<Int>? = nil,
        isLenient: Bool = false
    ) throws(JSONFlaw) -> LocatedJSON {
        var parser = JSONParser(bytes: bytes, range: range ?? 0..<bytes.count, isLenient: isLenient)
        let value = try parser.value(depth: 0)
        parser.skipBlanks()
        guard parser.index == parser.end else { throw parser.flaw("there is text after the end of the JSON") }
        return value
    }

    private init(bytes: [UInt8], range: Range<Int>, isLenient: Bool) {
        self.bytes = bytes
        self.isLenient = isLenient
        end = range.upperBound
        index = range.lowerBound + (bytes[range].starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
    }

    private func flaw(_ reason: String, from start: Int? = nil, kind: JSONFlaw.Kind = .syntax) -> JSONFlaw {
        JSONFlaw(reason, from: start ?? index, at: index, kind)
    }

    private var byte: UInt8? { index < end ? bytes[index] : nil }

    private mutating func skipBlanks() {
        while let byte, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { index += 1 }
    }

    private mutating func take(_ wanted: UInt8) -> Bool {
        guard byte == wanted else { return false }
        index += 1
        return true
    }

    // MARK: - Values

    private mutating func value(depth: Int) throws(JSONFlaw) -> LocatedJSON {
        skipBlanks()
        let start = index
        guard let first = byte else { throw flaw("it ends where a value was expected") }
        let content: LocatedJSON.Content
        switch first {
        case UInt8(ascii: "{"): content = .object(try members(depth + 1))
        case UInt8(ascii: "["): content = .array(try elements(depth + 1))
        case UInt8(ascii: "\""): content = .string(try string())
        case UInt8(ascii: "t"): content = try word("true", .bool(true))
        case UInt8(ascii: "f"): content = try word("false", .bool(false))
        case UInt8(ascii: "n"): content = try word("null", .null)
        case UInt8(ascii: "-"), 0x30...0x39: content = .number(try number())
        default: throw flaw("a value was expected")
        }
        return LocatedJSON(content: content, range: start..<index)
    }

    private func checkDepth(_ depth: Int) throws(JSONFlaw) {
        guard depth <= Self.maximumDepth else {
            throw flaw("it is nested deeper than \(Self.maximumDepth) levels", kind: .tooDeep)
        }
    }

    private mutating func elements(_ depth: Int) throws(JSONFlaw) -> [LocatedJSON] {
        try checkDepth(depth)
        index += 1
        var values: [LocatedJSON] = []
        while true {
            skipBlanks()
            if take(UInt8(ascii: "]")) { return values }
            values.append(try value(depth: depth))
            skipBlanks()
            guard take(UInt8(ascii: ",")) || byte == UInt8(ascii: "]") else {
                throw flaw("\",\" or \"]\" was expected")
            }
        }
    }

    private mutating func members(_ depth: Int) throws(JSONFlaw) -> [(key: String, value: LocatedJSON)] {
        try checkDepth(depth)
        index += 1
        var members: [(key: String, value: LocatedJSON)] = []
        while true {
            skipBlanks()
            if take(UInt8(ascii: "}")) { return members }
            guard byte == UInt8(ascii: "\"") else { throw flaw("a key in quotes was expected") }
            let key = try string()
            skipBlanks()
            guard take(UInt8(ascii: ":")) else { throw flaw("\":\" was expected") }
            members.append((key, try value(depth: depth)))
            skipBlanks()
            guard take(UInt8(ascii: ",")) || byte == UInt8(ascii: "}") else {
                throw flaw("\",\" or \"}\" was expected")
            }
        }
    }

    private mutating func word(
        _ text: StaticString,
        _ content: LocatedJSON.Content
    ) throws(JSONFlaw) -> LocatedJSON.Content {
        let count = text.utf8CodeUnitCount
        let wanted = UnsafeBufferPointer(start: text.utf8Start, count: count)
        guard index + count <= end, bytes[index..<index + count].elementsEqual(wanted) else {
            throw flaw("a value was expected")
        }
        index += count
        return content
    }

    private mutating func number() throws(JSONFlaw) -> Double {
        let start = index
        while let byte, 0x30...0x39 ~= byte || byte == 0x2B || byte == 0x2D || byte == 0x2E || byte | 0x20 == 0x65 {
            index += 1
        }
        let text = bytes[start..<index]
        guard Self.isNumber(text), let number = Double(String(decoding: text, as: UTF8.self)) else {
            throw flaw("a number was expected", from: start)
        }
        return number
    }

    /// Whether a text of digits, signs, points and exponent letters is a number.
    private static func isNumber(_ text: ArraySlice<UInt8>) -> Bool {
        var rest = text.first == UInt8(ascii: "-") ? text.dropFirst() : text
        func digits() -> ArraySlice<UInt8> { rest.prefix { 0x30...0x39 ~= $0 } }
        let whole = digits()
        guard whole.count == 1 || whole.count > 1 && whole.first != UInt8(ascii: "0") else { return false }
        rest = rest.dropFirst(whole.count)
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            let fraction = digits().count
            guard fraction > 0 else { return false }
            rest = rest.dropFirst(fraction)
        }
        guard let letter = rest.first else { return true }
        guard letter | 0x20 == 0x65 else { return false }
        rest = rest.dropFirst()
        if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        return !rest.isEmpty && digits().count == rest.count
    }

    // MARK: - Strings

    private mutating func string() throws(JSONFlaw) -> String {
        let quote = index
        index += 1
        var start = index
        var text: [UInt8] = []
        while let byte {
            switch byte {
            case UInt8(ascii: "\""):
                text += bytes[start..<index]
                index += 1
                if isLenient { return String(decoding: text, as: UTF8.self) }
                guard let string = String(validating: text, as: UTF8.self) else {
                    index = start
                    throw flaw("a string is not in UTF-8", from: quote)
                }
                return string
            case UInt8(ascii: "\\"):
                text += bytes[start..<index]
                try unescape(into: &text)
                start = index
            case 0..<0x20 where !isLenient: throw flaw("a control character must be escaped")
            default: index += 1
            }
        }
        throw flaw("a string does not end", from: quote)
    }

    private mutating func unescape(into text: inout [UInt8]) throws(JSONFlaw) {
        let start = index
        index += 1
        guard let letter = byte else { return }
        index += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(letter)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            let units = try codeUnits(start)
            guard isLenient || UTF16.isLeadSurrogate(units[0]) == (units.count == 2),
                isLenient || !UTF16.isTrailSurrogate(units[0])
            else { throw flaw("half of a surrogate pair is missing", from: start) }
            text += String(decoding: units, as: UTF16.self).utf8
        default: throw flaw("the escape is unknown", from: start)
        }
    }

    /// The code unit of an escape that begins at `start`; two code units if a surrogate pair follows.
    private mutating func codeUnits(_ start: Int) throws(JSONFlaw) -> [UInt16] {
        let unit = try codeUnit(start)
        let next = index
        guard UTF16.isLeadSurrogate(unit), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            index = next
            return [unit]
        }
        let trail = try codeUnit(next)
        guard UTF16.isTrailSurrogate(trail) else {
            index = next
            return [unit]
        }
        return [unit, trail]
    }

    private mutating func codeUnit(_ start: Int) throws(JSONFlaw) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = byte.flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else {
                throw flaw("four hexadecimal digits were expected after \\u", from: start)
            }
            unit = unit << 4 | UInt16(digit)
            index += 1
        }
        return unit
    }
}
