// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension JSONValue: Codable {
    /// Reads whatever stands there; keys stay as they are, whatever the decoder does to a model's.
    ///
    /// A call decodes values of up to 512 levels in linear time. A decoder of your own takes time that grows with the
    /// square of the depth for each value.
    public init(from decoder: any Decoder) throws {
        if let parsed = ParsedJSON.of(decoder) {
            self = try parsed.value(at: decoder.codingPath)
            return
        }
        let container = try decoder.singleValueContainer()
        // In the order of how often each is met.
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

    /// Writes the value.
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

    /// Decodes this value as a model.
    ///
    /// - Parameters:
    ///   - type: The model; left out where the context names it.
    ///   - decoder: What decodes it; Foundation's defaults by default.
    /// - Throws: ``ApiConnectorError`` of kind `.decodingFailed`, with the coding path and what stood there.
    /// - Complexity: O(*n*) in the size of the value, which is written as JSON and read again.
    public func decoded<Model: Decodable>(
        as type: Model.Type = Model.self,
        with decoder: JSONDecoder = JSONDecoder()
    ) throws(ApiConnectorError) -> Model {
        let json = Data(description.utf8)
        do {
            return try JSONNesting.decode(type, from: json, with: decoder)
        } catch {
            throw ApiConnectorError(
                .decodingFailed,
                at: .value,
                "the value does not decode as \(type): \(CodingText.describe(error, in: json))",
                underlying: error
            )
        }
    }
}

extension SingleValueDecodingContainer {
    /// The value; nil where something of another shape stands here.
    fileprivate func decodeIfShaped<Value: Decodable>(as type: Value.Type) throws -> Value? {
        do {
            return try decode(type)
        } catch DecodingError.typeMismatch {
            return nil
        }
    }
}
