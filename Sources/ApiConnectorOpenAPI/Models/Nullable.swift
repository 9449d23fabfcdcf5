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
