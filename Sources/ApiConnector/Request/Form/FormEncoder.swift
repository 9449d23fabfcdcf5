// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Encodes one part of a value into its ``FormNode``, in the tree of the whole value.
///
/// `Encodable` requests containers in functions that cannot throw. An error there is stored, and thrown at the end.
struct FormEncoder: Encoder {
    /// The maximum depth.
    ///
    /// A value that contains itself is refused at this depth, before it exhausts the stack.
    static let maximumDepth = 100

    final class State {
        let encoding: FormEncoding
        var failure: FormRefusal?

        init(_ encoding: FormEncoding) {
            self.encoding = encoding
        }
    }

    let state: State
    let node: FormNode
    let codingPath: [any CodingKey]
    let depth: Int

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// The items of a value.
    ///
    /// - Throws: ``FormRefusal``, or the error of the value's own `encode(to:)`.
    static func items(of value: some Encodable, as encoding: FormEncoding) throws -> [FormItem] {
        let encoder = FormEncoder(state: State(encoding), node: FormNode(), codingPath: [], depth: 0)
        try encoder.encode(value)
        if let failure = encoder.state.failure { throw failure }
        switch encoder.node.content {
        case .nothing: return []
        case .text: throw encoder.refusal(of: value, "it is one text without a name; put it into a struct")
        case .array:
            throw encoder.refusal(of: value, "it is an array, whose elements have no names; put it into a struct")
        case .object: break
        }
        var writer = FormWriter(encoding: encoding)
        do throws(FormRefusal) {
            try writer.write(encoder.node)
        } catch {
            throw error.at(error.path.reversed())
        }
        return writer.items
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(FormKeyedContainer(encoder: opened { $0.openObject() }))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        FormUnkeyedContainer(encoder: opened { $0.openArray() })
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        FormSingleContainer(encoder: self)
    }

    /// Encodes a value at this place.
    func encode(_ value: some Encodable) throws {
        guard node.isEmpty else { throw refusal(of: value, "its key already has a value") }
        if let date = value as? Date, state.encoding.dates.isOfConnection {
            node.set(.date(date, codingPath))
            return
        }
        if let scalar = value as? any FormScalar {
            do throws(FormRefusal) {
                node.set(.text(try scalar.formText(as: state.encoding)))
            } catch {
                throw error.at(codingPath, of: value)
            }
            return
        }
        guard depth < Self.maximumDepth else { throw refusal(of: value, Self.tooDeep) }
        try value.encode(to: FormEncoder(state: state, node: node, codingPath: codingPath, depth: depth + 1))
        if let unordered = value as? any Unordered { try sort(unordered) }
    }

    /// Encodes a value at a new place, and then adds the place to the tree.
    func encode(_ value: some Encodable, at key: any CodingKey, put: (FormNode) -> Void) throws {
        let place = FormEncoder(state: state, node: FormNode(), codingPath: codingPath + [key], depth: depth)
        try place.encode(value)
        put(place.node)
    }

    /// The encoder for a part of this place.
    func descended(to node: FormNode, at key: any CodingKey) -> FormEncoder {
        guard depth < Self.maximumDepth else { return detached(Self.tooDeep) }
        return FormEncoder(state: state, node: node, codingPath: codingPath + [key], depth: depth + 1)
    }

    private static let tooDeep = "it is nested more than \(maximumDepth) levels deep"

    private func opened(_ open: (FormNode) -> Bool) -> FormEncoder {
        open(node) ? self : detached("its key already has a value of another shape")
    }

    /// An encoder whose output is discarded, because encoding has already failed.
    private func detached(_ reason: String) -> FormEncoder {
        state.failure = state.failure ?? FormRefusal(reason).at(codingPath)
        return FormEncoder(state: state, node: FormNode(), codingPath: codingPath, depth: depth)
    }

    private func sort(_ value: any Unordered) throws {
        if !node.isArray {
            node.sortByName()
        } else if value.hasNames {
            throw refusal(of: value, "its keys are neither String nor Int, and cannot be written as text")
        } else {
            node.sortByText()
        }
    }

    private func refusal(of value: Any, _ reason: String) -> FormRefusal {
        FormRefusal(reason).at(codingPath, of: value)
    }
}

/// A collection that encodes its parts in a different order in each process.
private protocol Unordered {
    var hasNames: Bool { get }
}

extension Dictionary: Unordered where Key: Encodable, Value: Encodable {
    fileprivate var hasNames: Bool { true }
}

extension Set: Unordered where Element: Encodable {
    fileprivate var hasNames: Bool { false }
}

// One generic `encode` in each container implements all of the standard library's overloads.

struct FormKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: FormEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encodeNil(forKey key: Key) throws { encoder.node.put(FormNode(), under: key.stringValue) }

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

    mutating func superEncoder() -> any Encoder { part(FormKey.super) }

    mutating func superEncoder(forKey key: Key) -> any Encoder { part(key) }

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

    mutating func encodeNil() throws { encoder.node.append(FormNode()) }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        try encoder.encode(value, at: FormKey(index: count)) { encoder.node.append($0) }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        part().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { part().unkeyedContainer() }

    mutating func superEncoder() -> any Encoder { part() }

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

    mutating func encode<Value: Encodable>(_ value: Value) throws { try encoder.encode(value) }
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

/// A value that a form writes as one text.
protocol FormScalar {
    func formText(as encoding: FormEncoding) throws(FormRefusal) -> String
}

/// Why a value cannot be written, with its type and its coding path.
///
/// `EncodingError` is not used, because it contains the value. The value may be a secret, and printing a date that is
/// NaN crashes in Foundation.
struct FormRefusal: Error {
    let reason: String
    var typeName: String?
    var path: [any CodingKey] = []

    init(_ reason: String) {
        self.reason = reason
    }

    /// The same refusal with its place.
    func at(_ path: [any CodingKey], of value: Any? = nil) -> FormRefusal {
        var refusal = self
        refusal.typeName = value.map { String(describing: type(of: $0)) }
        refusal.path = path
        return refusal
    }
}

extension String: FormScalar {
    func formText(as encoding: FormEncoding) throws(FormRefusal) -> String { self }
}

extension Bool: FormScalar {
    func formText(as encoding: FormEncoding) throws(FormRefusal) -> String {
        self ? encoding.booleans.yes : encoding.booleans.no
    }
}

extension Date: FormScalar {
    func formText(as encoding: FormEncoding) throws(FormRefusal) -> String { try encoding.dates.text(self) }
}

extension Data: FormScalar {
    func formText(as encoding: FormEncoding) throws(FormRefusal) -> String { encoding.data.text(self) }
}

extension URL: FormScalar {
    func formText(as encoding: FormEncoding) throws(FormRefusal) -> String { absoluteString }
}

extension Decimal: FormScalar {
    func formText(as encoding: FormEncoding) throws(FormRefusal) -> String {
        guard isFinite else { throw .notFinite }
        return description
    }
}

extension FixedWidthInteger {
    func formText(as encoding: FormEncoding) throws(FormRefusal) -> String { String(self) }
}

extension Int: FormScalar {}
extension Int8: FormScalar {}
extension Int16: FormScalar {}
extension Int32: FormScalar {}
extension Int64: FormScalar {}
extension Int128: FormScalar {}
extension UInt: FormScalar {}
extension UInt8: FormScalar {}
extension UInt16: FormScalar {}
extension UInt32: FormScalar {}
extension UInt64: FormScalar {}
extension UInt128: FormScalar {}

extension BinaryFloatingPoint where Self: CustomStringConvertible {
    func formText(as encoding: FormEncoding) throws(FormRefusal) -> String { try formText() }

    /// The shortest text that reads back as this number; a whole number has no fraction, as in JSON.
    func formText() throws(FormRefusal) -> String {
        guard isFinite else { throw .notFinite }
        let text = description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

extension Double: FormScalar {}
extension Float: FormScalar {}

extension FormRefusal {
    fileprivate static let notFinite = FormRefusal("it is not a finite number, which a form cannot represent")
}
