// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension Decoder {
    /// The text of the member that distinguishes alternatives; nil if it is missing.
    ///
    /// The text of a number or a Boolean is as JSON writes it.
    public func memberText(_ name: String) -> String? {
        guard let object = try? container(keyedBy: AnyKey.self) else { return nil }
        let key = AnyKey(stringValue: name)
        if let text = try? object.decode(String.self, forKey: key) { return text }
        if let number = try? object.decode(Int.self, forKey: key) { return String(number) }
        return (try? object.decode(Bool.self, forKey: key)).map { $0 ? "true" : "false" }
    }

    /// Whether the value is an object with all of these members.
    public func hasMembers(_ names: String...) -> Bool {
        guard let object = try? container(keyedBy: AnyKey.self) else { return false }
        return names.allSatisfy { object.contains(AnyKey(stringValue: $0)) }
    }

    /// The members that a model has no property for.
    public func additionalMembers<Value: Decodable>(besides names: Set<String>) throws -> [String: Value] {
        let object = try container(keyedBy: AnyKey.self)
        var values: [String: Value] = [:]
        for key in object.allKeys where !names.contains(key.stringValue) {
            values[key.stringValue] = try object.decode(Value.self, forKey: key)
        }
        return values
    }
}

extension Encoder {
    /// Writes the members that a model has no property for.
    public func encode(additionalMembers values: [String: some Encodable]) throws {
        var object = container(keyedBy: AnyKey.self)
        for (key, value) in values { try object.encode(value, forKey: AnyKey(stringValue: key)) }
    }
}

/// The name of any member.
private struct AnyKey: CodingKey {
    let stringValue: String

    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }

    init(intValue: Int) { stringValue = String(intValue) }
}

/// A model of a request's body.
public nonisolated protocol RequestModel: Encodable, Sendable {}

/// A model of a response's body.
public nonisolated protocol ResponseModel: Decodable, Sendable {}
