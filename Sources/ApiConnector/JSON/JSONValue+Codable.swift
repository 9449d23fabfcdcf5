// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension JSONValue: Codable {
    /// Decodes any JSON value.
    ///
    /// Keys stay as they are, regardless of the decoder's key strategy.
    ///
    /// A call decodes values of up to 512 levels in linear time. With your own decoder, the time for each value grows
    /// with the square of its depth.
    public init(from decoder: any Decoder) throws {
        if let parsed = ParsedJSON.of(decoder) {
            self = try parsed.value(at: decoder.codingPath)
            return
        }
        let container = try decoder.singleValueContainer()
        // The most frequent types come first.
        if container.decodeNil() {
            self = .null
        } else if let value = try container.decodeIfShaped(as: String.self) {
            self = .string(value)
        } else if let value = try JSONNesting.descend({ try container.decodeIfShaped(as: [String: JSONValue].self) }) {
            self = .object(value)
        } else if let value = try JSONNesting.descend({ try container.decodeIfShaped(as: [JSONValue].self) }) {
            self = .array(value)
        } else if let value = try container.decodeIfShaped(as: Bool.self) {
            self = .bool(value)
        } else {
            self = .number(try container.decode(JSONNumber.self))
        }
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
