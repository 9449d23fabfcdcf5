// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A value that can be null; it is also optional if it can be omitted.
public enum Nullable<Value> {
    /// Null.
    case null
    /// A value.
    case value(Value)

    /// Makes a value; nil becomes null.
    public init(_ value: Value?) {
        self = value.map(Self.value) ?? .null
    }

    /// The value; nil for null.
    public var value: Value? {
        if case .value(let value) = self { value } else { nil }
    }
}

extension Nullable: Sendable where Value: Sendable {}
extension Nullable: Equatable where Value: Equatable {}
extension Nullable: Hashable where Value: Hashable {}

extension Nullable: Encodable where Value: Encodable {
    /// Writes the value or null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let value { try container.encode(value) } else { try container.encodeNil() }
    }
}

extension Nullable: Decodable where Value: Decodable {
    /// Reads a value or null.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self = container.decodeNil() ? .null : .value(try container.decode(Value.self))
    }
}

extension KeyedDecodingContainer {
    /// Reads null as null; the standard function reads it as a missing member.
    public func decodeIfPresent<Value: Decodable>(
        _ type: Nullable<Value>.Type,
        forKey key: Key
    ) throws -> Nullable<Value>? {
        contains(key) ? try decode(type, forKey: key) : nil
    }
}

/// Stores a value out of line, for a model that contains itself.
@dynamicMemberLookup
public indirect enum Indirect<Value> {
    /// The value.
    case value(Value)

    /// Wraps a value.
    public init(_ value: Value) {
        self = .value(value)
    }

    /// The value.
    public var value: Value {
        switch self {
        case .value(let value): value
        }
    }

    /// A property of the value.
    public subscript<Property>(dynamicMember property: KeyPath<Value, Property>) -> Property {
        value[keyPath: property]
    }
}

extension Indirect: Sendable where Value: Sendable {}
extension Indirect: Equatable where Value: Equatable {}
extension Indirect: Hashable where Value: Hashable {}

extension Indirect: Encodable where Value: Encodable {
    /// Writes the value.
    public func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

extension Indirect: Decodable where Value: Decodable {
    /// Reads the value.
    public init(from decoder: any Decoder) throws { self = .value(try Value(from: decoder)) }
}

/// A set of values that may grow: values that the document does not list are kept.
public nonisolated protocol OpenEnum: RawRepresentable, Codable, Hashable, Sendable, ParameterValue
where RawValue: CustomStringConvertible & Sendable {
    /// Makes a value; the document need not list it.
    init(rawValue: RawValue)
}

extension OpenEnum {
    /// Makes a value; the document need not list it.
    public init(_ rawValue: RawValue) {
        self.init(rawValue: rawValue)
    }

    /// The raw value.
    public var parameterText: ParameterText { .text(rawValue.description) }
}
