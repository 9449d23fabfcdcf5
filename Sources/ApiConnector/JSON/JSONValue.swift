// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A JSON value of any shape, for JSON that has no model.
///
/// ```swift
/// let answer = try await api.value(JSONValue.self, at: .settings)
/// let theme = answer["display"]["themes"][0]["name"].string
/// ```
///
/// There is no dynamic member lookup: a key called `description` or `count` would quietly mean something else.
public enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null

    /// `true` or `false`.
    case bool(Bool)

    /// A number, exact as ``JSONNumber`` says.
    case number(JSONNumber)

    /// A text.
    case string(String)

    /// Values in order.
    case array([JSONValue])

    /// Values by key, in no order: RFC 8259 gives it no meaning, and Foundation's decoder loses it.
    case object([String: JSONValue])

    /// The value of an object's key; ``null`` where the key is missing or this is no object.
    ///
    /// So a path needs no `?`; ask ``object`` where a key that is missing differs from one that is null.
    public subscript(key: String) -> JSONValue {
        object?[key] ?? .null
    }

    /// The element of an array; ``null`` where there is none at the index or this is no array.
    public subscript(index: Int) -> JSONValue {
        guard case .array(let values) = self, values.indices.contains(index) else { return .null }
        return values[index]
    }

    /// Whether it is ``null``.
    public var isNull: Bool { self == .null }

    /// The Boolean; nil if this is not a Boolean.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The number; nil if this is not a number.
    public var number: JSONNumber? {
        if case .number(let value) = self { value } else { nil }
    }

    /// The number as an integer; nil where this is no number, or one with a fraction, or too large: never rounded.
    public var int: Int? { number?.integer() }

    /// The number as the nearest double; nil where this is no number.
    public var double: Double? { number?.double }

    /// The text; nil if this is not a text.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The elements; nil where this is no array.
    public var array: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The values by key; nil where this is no object.
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

    /// Makes a number; the literal may have up to 128 bits.
    public init(integerLiteral value: Int128) {
        self = .number(JSONNumber(value))
    }

    /// Makes a number; ``null`` of a literal too large for a double, as JSON has no infinity.
    public init(floatLiteral value: Double) {
        self = JSONNumber(value).map(JSONValue.number) ?? .null
    }

    /// Makes a text.
    public init(stringLiteral value: String) {
        self = .string(value)
    }

    /// Makes an array.
    public init(arrayLiteral values: JSONValue...) {
        self = .array(values)
    }

    /// Makes an object; of a key that repeats the last value counts.
    public init(dictionaryLiteral values: (String, JSONValue)...) {
        self = .object(Dictionary(values) { _, last in last })
    }
}
