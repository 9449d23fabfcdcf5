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
