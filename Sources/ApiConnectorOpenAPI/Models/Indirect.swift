// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

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
