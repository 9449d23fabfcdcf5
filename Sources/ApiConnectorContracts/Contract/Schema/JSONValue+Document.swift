// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension JSONValue {
    /// Reads a document in UTF-8, in time that is linear in its size; nil for a text that is not JSON.
    ///
    /// `JSONDecoder` tries one type after the other for each value, which takes seconds for a large document.
    init?(document: Data) {
        let bytes = Array(document)
        guard let located = try? JSONParser.value(in: bytes, isLenient: true), let value = JSONValue(located, in: bytes)
        else { return nil }
        self = value
    }

    private init?(_ located: LocatedJSON, in bytes: [UInt8]) {
        switch located.content {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .string(let value): self = .string(value)
        case .number:
            // The text is not read as a `Double`, which would round it.
            let text = bytes[located.range]
            if let integer = Int64(String(decoding: text, as: UTF8.self)) {
                self = .number(JSONNumber(integer))
            } else if let number = try? JSONDecoder().decode(JSONNumber.self, from: Data(text)) {
                self = .number(number)
            } else {
                return nil
            }
        case .array(let elements):
            var values: [JSONValue] = []
            for element in elements {
                guard let value = JSONValue(element, in: bytes) else { return nil }
                values.append(value)
            }
            self = .array(values)
        case .object(let members):
            var values: [String: JSONValue] = [:]
            for member in members where values[member.key] == nil {
                guard let value = JSONValue(member.value, in: bytes) else { return nil }
                values[member.key] = value
            }
            self = .object(values)
        }
    }
}
