// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Parses JSON in UTF-8 (RFC 8259) into a ``JSONValue`` in linear time, with the same results as Foundation's decoder.
///
/// Like that decoder, it accepts a trailing comma and uses the first value of a repeated key.
struct JSONValueParser {
    /// The maximum nesting depth, the same as in Foundation's decoder.
    static let maximumDepth = 512

    /// Why a text could not be parsed.
    enum Flaw: Error {
        case tooDeep
        /// It is not JSON, or not in the supported form.
        case syntax
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0

    /// Parses a text.
    static func value(in text: Data) throws(Flaw) -> JSONValue {
        let result = Array(text).withUnsafeBufferPointer { bytes -> Result<JSONValue, Flaw> in
            var parser = JSONValueParser(bytes: bytes)
            do throws(Flaw) {
                return .success(try parser.whole())
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// The number of bytes before the first syntax error; nil if the text is valid JSON, or nested too deep to know.
    static func syntaxFault(in text: Data) -> Int? {
        Array(text).withUnsafeBufferPointer { bytes in
            var parser = JSONValueParser(bytes: bytes)
            do throws(Flaw) {
                _ = try parser.whole()
                return nil
            } catch {
                return error == .syntax ? parser.index : nil
            }
        }
    }

    private init(bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    private var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func whole() throws(Flaw) -> JSONValue {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
        let value = try value(depth: 0)
        skipBlanks()
        guard byte == nil else { throw .syntax }
        return value
    }

    private mutating func value(depth: Int) throws(Flaw) -> JSONValue {
        skipBlanks()
        switch byte {
        case UInt8(ascii: "{"): return try object(depth + 1)
        case UInt8(ascii: "["): return try array(depth + 1)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func array(_ depth: Int) throws(Flaw) -> JSONValue {
        guard depth <= Self.maximumDepth else { throw .tooDeep }
        index += 1
        var values: [JSONValue] = []
        while true {
            skipBlanks()
            if take(UInt8(ascii: "]")) { return .array(values) }
            values.append(try value(depth: depth))
            skipBlanks()
            guard take(UInt8(ascii: ",")) || byte == UInt8(ascii: "]") else { throw .syntax }
        }
    }

    private mutating func object(_ depth: Int) throws(Flaw) -> JSONValue {
        guard depth <= Self.maximumDepth else { throw .tooDeep }
        index += 1
        var values: [String: JSONValue] = [:]
        while true {
            skipBlanks()
            if take(UInt8(ascii: "}")) { return .object(values) }
            guard byte == UInt8(ascii: "\"") else { throw .syntax }
            let key = try string()
            skipBlanks()
            guard take(UInt8(ascii: ":")) else { throw .syntax }
            let value = try value(depth: depth)
            if values[key] == nil { values[key] = value }
            skipBlanks()
            guard take(UInt8(ascii: ",")) || byte == UInt8(ascii: "}") else { throw .syntax }
        }
    }

    private mutating func word(_ text: StaticString, _ value: JSONValue) throws(Flaw) -> JSONValue {
        let count = text.utf8CodeUnitCount
        let wanted = UnsafeBufferPointer(start: text.utf8Start, count: count)
        guard index + count <= bytes.count, bytes[index..<index + count].elementsEqual(wanted) else { throw .syntax }
        index += count
        return value
    }

    private mutating func skipBlanks() {
        while let byte, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { index += 1 }
    }

    private mutating func take(_ wanted: UInt8) -> Bool {
        guard byte == wanted else { return false }
        index += 1
        return true
    }
}

extension JSONValueParser {
    private mutating func number() throws(Flaw) -> JSONNumber {
        let start = index
        while let byte, 0x30...0x39 ~= byte || byte == 0x2B || byte == 0x2D || byte == 0x2E || byte | 0x20 == 0x65 {
            index += 1
        }
        let text = bytes[start..<index]
        let digits = text.first == UInt8(ascii: "-") ? text.dropFirst() : text
        // Excludes "01", which is not JSON.
        let isPlain =
            digits.allSatisfy { 0x30...0x39 ~= $0 } && (digits.count == 1 || digits.first != UInt8(ascii: "0"))
        if isPlain, !digits.isEmpty, let integer = Int64(String(decoding: text, as: UTF8.self)) {
            return JSONNumber(integer)
        }
        // Foundation parses all other numbers, so that the result is the same.
        guard !text.isEmpty, let number = try? JSONDecoder().decode(JSONNumber.self, from: Data(text)) else {
            throw .syntax
        }
        return number
    }

    private mutating func string() throws(Flaw) -> String {
        index += 1
        var start = index
        var text: [UInt8]?
        while let byte {
            switch byte {
            case UInt8(ascii: "\""):
                let rest = bytes[start..<index]
                index += 1
                let string = text.map { String(validating: $0 + rest, as: UTF8.self) }
                guard let string = string ?? String(validating: rest, as: UTF8.self) else {
                    index = start
                    throw .syntax
                }
                return string
            case UInt8(ascii: "\\"):
                var unescaped = text ?? []
                text = nil
                unescaped += bytes[start..<index]
                try unescape(into: &unescaped)
                text = unescaped
                start = index
            case 0..<0x20: throw .syntax
            default: index += 1
            }
        }
        throw .syntax
    }

    private mutating func unescape(into text: inout [UInt8]) throws(Flaw) {
        index += 1
        guard let letter = byte else { throw .syntax }
        index += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(letter)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            let unit = try codeUnit()
            guard UTF16.isLeadSurrogate(unit) else {
                guard let scalar = Unicode.Scalar(unit) else { throw .syntax }
                return text += String(Character(scalar)).utf8
            }
            guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else { throw .syntax }
            let trail = try codeUnit()
            guard UTF16.isTrailSurrogate(trail) else { throw .syntax }
            text += String(decoding: [unit, trail], as: UTF16.self).utf8
        default: throw .syntax
        }
    }

    /// The four hexadecimal digits of an escape.
    private mutating func codeUnit() throws(Flaw) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = byte.flatMap(TextEncoding.hexadecimal) else { throw .syntax }
            unit = unit << 4 | UInt16(digit)
            index += 1
        }
        return unit
    }
}
