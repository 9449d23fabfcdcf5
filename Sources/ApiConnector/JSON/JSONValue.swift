// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A JSON value of any type, for JSON without a model.
///
/// ```swift
/// let answer = try await api.value(JSONValue.self, at: .settings)
/// let theme = answer["display"]["themes"][0]["name"].string
/// ```
///
/// There is no dynamic member lookup, because keys such as `description` or `count` would collide with properties.
public enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null

    /// `true` or `false`.
    case bool(Bool)

    /// A number, with the precision of ``JSONNumber``.
    case number(JSONNumber)

    /// A string.
    case string(String)

    /// An array.
    case array([JSONValue])

    /// An object. The order of its keys is lost: RFC 8259 gives it no meaning, and Foundation's decoder loses it.
    case object([String: JSONValue])

    /// The value for a key of an object; ``null`` if the key is missing or this is not an object.
    ///
    /// So a chain of subscripts needs no `?`. Use ``object`` to distinguish a missing key from `null`.
    public subscript(key: String) -> JSONValue {
        object?[key] ?? .null
    }

    /// The element of an array at an index; ``null`` if the index is out of bounds or this is not an array.
    public subscript(index: Int) -> JSONValue {
        guard case .array(let values) = self, values.indices.contains(index) else { return .null }
        return values[index]
    }

    /// Whether the value is ``null``.
    public var isNull: Bool { self == .null }

    /// The Boolean; nil if this is not a Boolean.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The number; nil if this is not a number.
    public var number: JSONNumber? {
        if case .number(let value) = self { value } else { nil }
    }

    /// The number as an `Int`; nil if this is not a number, has a fraction or is too large.
    ///
    /// It is never rounded.
    public var int: Int? { number?.integer() }

    /// The number as the nearest double; nil if this is not a number.
    public var double: Double? { number?.double }

    /// The string; nil if this is not a string.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The elements; nil if this is not an array.
    public var array: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The members; nil if this is not an object.
    public var object: [String: JSONValue]? {
        if case .object(let value) = self { value } else { nil }
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// Makes ``null``.
    public init(nilLiteral: ()) {
        self = .null
    }

    /// Makes a Boolean.
    public init(booleanLiteral value: Bool) {
        self = .bool(value)
    }

    /// Makes a number; the literal can have up to 128 bits.
    public init(integerLiteral value: Int128) {
        self = .number(JSONNumber(value))
    }

    /// Makes a number; ``null`` for a literal beyond the range of a double, because JSON has no infinity.
    public init(floatLiteral value: Double) {
        self = JSONNumber(value).map(JSONValue.number) ?? .null
    }

    /// Makes a string.
    public init(stringLiteral value: String) {
        self = .string(value)
    }

    /// Makes an array.
    public init(arrayLiteral values: JSONValue...) {
        self = .array(values)
    }

    /// Makes an object; the last value of a repeated key is used.
    public init(dictionaryLiteral values: (String, JSONValue)...) {
        self = .object(Dictionary(values) { _, last in last })
    }
}

extension JSONValue: Codable {
    /// Decodes any JSON value.
    ///
    /// Keys stay as they are, regardless of the decoder's key strategy.
    ///
    /// A call that returns a `JSONValue` itself decodes up to 512 levels. A `JSONValue` within a model, or with your own
    /// decoder, has at most 64.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // The most frequent types come first.
        if container.decodeNil() {
            self = .null
        } else if let value = try container.decodeIfShaped(as: String.self) {
            self = .string(value)
        } else if let value = try Self.descend({ try container.decodeIfShaped(as: [String: Self].self) }) {
            self = .object(value)
        } else if let value = try Self.descend({ try container.decodeIfShaped(as: [Self].self) }) {
            self = .array(value)
        } else if let value = try container.decodeIfShaped(as: Bool.self) {
            self = .bool(value)
        } else {
            do {
                self = .number(try container.decode(JSONNumber.self))
            } catch DecodingError.typeMismatch where Self.depth == Self.maximumTriedDepth {
                throw Self.tooDeep(decoder)
            }
        }
    }

    /// The maximum nesting within a value that is decoded by trying one type after the other.
    ///
    /// A failed try takes time that grows with the depth, because the error holds the coding path. Measured: 1.2 s for
    /// 1 MB nested 8 deep, 11 s at 64 levels, 33 s at 128.
    static let maximumTriedDepth = 64

    @TaskLocal private static var depth = 0

    /// Decodes one level deeper.
    ///
    /// Returns nil at the last level, whose values are not containers.
    private static func descend<Value>(_ decode: () throws -> Value?) throws -> Value? {
        depth < maximumTriedDepth ? try $depth.withValue(depth + 1, operation: decode) : nil
    }

    private static func tooDeep(_ decoder: any Decoder) -> DecodingError {
        .dataCorrupted(
            DecodingError.Context(
                codingPath: decoder.codingPath,
                debugDescription: "values are nested deeper than \(maximumTriedDepth) levels"
            )
        )
    }

    /// Encodes the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

extension SingleValueDecodingContainer {
    /// The decoded value; nil if the JSON has another type here.
    fileprivate func decodeIfShaped<Value: Decodable>(as type: Value.Type) throws -> Value? {
        do {
            return try decode(type)
        } catch DecodingError.typeMismatch {
            return nil
        }
    }
}

extension JSONValue {
    /// Parses JSON in UTF-8 in linear time, with the same result as Foundation's decoder.
    init(json: Data) throws(JSONFlaw) {
        let bytes = Array(json)
        try self.init(try JSONParser.value(in: bytes), in: bytes)
    }

    private init(_ located: LocatedJSON, in bytes: [UInt8]) throws(JSONFlaw) {
        switch located.content {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .string(let value): self = .string(value)
        case .number: self = .number(try JSONNumber(at: located.range, in: bytes))
        case .array(let elements):
            var values: [JSONValue] = []
            values.reserveCapacity(elements.count)
            for element in elements { values.append(try JSONValue(element, in: bytes)) }
            self = .array(values)
        case .object(let members):
            var values: [String: JSONValue] = [:]
            for member in members where values[member.key] == nil {
                values[member.key] = try JSONValue(member.value, in: bytes)
            }
            self = .object(values)
        }
    }
}

extension JSONNumber {
    fileprivate init(at range: Range<Int>, in bytes: [UInt8]) throws(JSONFlaw) {
        let digits = bytes[range]
        if let integer = Int64(String(decoding: digits, as: UTF8.self)) {
            self.init(integer)
        } else if let number = try? JSONDecoder().decode(JSONNumber.self, from: Data(digits)) {
            // Foundation parses all other numbers, so that the result is the same.
            self = number
        } else {
            throw JSONFlaw("the number is too large", from: range.lowerBound, at: range.upperBound)
        }
    }
}

extension JSONDecoder {
    /// Decodes a value from JSON.
    ///
    /// A ``JSONValue`` is parsed, because Foundation's decoder would try one type after the other.
    @inline(__always)
    func value<Value: Decodable>(_ type: Value.Type, in json: Data) throws -> Value {
        if type == JSONValue.self, let value = parsed(json) as? Value { return value }
        return try decode(type, from: json)
    }

    /// The parsed value; nil for a text that only Foundation's decoder reads, such as one in UTF-16.
    @inline(never)
    private func parsed(_ json: Data) -> JSONValue? {
        type(of: self) == JSONDecoder.self ? try? JSONValue(json: json) : nil
    }
}

extension JSONValue: CustomStringConvertible {
    /// The value as compact JSON with sorted keys, so that equal values have equal texts.
    ///
    /// Secrets are not redacted.
    public var description: String {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .number(let value): bytes += value.description.utf8
        case .string(let value): Self.write(value, to: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let values):
            bytes.append(UInt8(ascii: "{"))
            for (index, (key, value)) in values.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.write(key, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// Writes a quoted string with the escapes that RFC 8259, section 7, requires.
    private static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes += #"\""#.utf8
            case UInt8(ascii: "\\"): bytes += #"\\"#.utf8
            case 0x08: bytes += #"\b"#.utf8
            case 0x09: bytes += #"\t"#.utf8
            case 0x0A: bytes += #"\n"#.utf8
            case 0x0C: bytes += #"\f"#.utf8
            case 0x0D: bytes += #"\r"#.utf8
            case 0..<0x20:
                bytes += #"\u00"#.utf8
                bytes.append(ByteWriter.hexadecimalDigit(byte >> 4))
                bytes.append(ByteWriter.hexadecimalDigit(byte & 15))
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
