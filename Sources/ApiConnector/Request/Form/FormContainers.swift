// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// One generic `encode` in each container implements all of the standard library's overloads.

struct FormKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: FormEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encodeNil(forKey key: Key) throws {
        encoder.node.put(FormNode(), under: key.stringValue)
    }

    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try encoder.encode(value, at: key) { encoder.node.put($0, under: key.stringValue) }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        part(key).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        part(key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder {
        part(FormKey.super)
    }

    mutating func superEncoder(forKey key: Key) -> any Encoder {
        part(key)
    }

    /// The part with that name; an existing part is extended, as in `JSONEncoder`.
    private func part(_ key: some CodingKey) -> FormEncoder {
        if let known = encoder.node.child(named: key.stringValue) { return encoder.descended(to: known, at: key) }
        let node = FormNode()
        encoder.node.put(node, under: key.stringValue)
        return encoder.descended(to: node, at: key)
    }
}

struct FormUnkeyedContainer: UnkeyedEncodingContainer {
    let encoder: FormEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.node.children.count }

    mutating func encodeNil() throws {
        encoder.node.append(FormNode())
    }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        try encoder.encode(value, at: FormKey(index: count)) { encoder.node.append($0) }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        part().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        part().unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder {
        part()
    }

    private func part() -> FormEncoder {
        let node = FormNode()
        let key = FormKey(index: count)
        encoder.node.append(node)
        return encoder.descended(to: node, at: key)
    }
}

struct FormSingleContainer: SingleValueEncodingContainer {
    let encoder: FormEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encodeNil() throws {}

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        try encoder.encode(value)
    }
}

/// A name or an index in a coding path.
struct FormKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    static let `super` = FormKey(stringValue: "super")

    init(stringValue: String) {
        self.stringValue = stringValue
        self.intValue = nil
    }

    init(intValue: Int) {
        self.init(index: intValue)
    }

    init(index: Int) {
        self.stringValue = "\(index)"
        self.intValue = index
    }
}
