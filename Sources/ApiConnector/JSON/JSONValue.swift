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
