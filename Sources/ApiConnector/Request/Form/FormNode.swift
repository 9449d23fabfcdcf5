// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A place in the tree of what a value has encoded.
///
/// A class, because `Encodable` writes into places that it was handed earlier: nested containers, super encoders.
final class FormNode {
    enum Content {
        case nothing
        case text(FormText)
        case object
        case array
    }

    /// What stands here; `nothing` for nil and for what was not written.
    private(set) var content = Content.nothing

    /// The parts of an object or an array, in order.
    private(set) var children: [FormNode] = []

    /// The names of an object's parts, beside `children`.
    private(set) var names: [String] = []

    private var positions: [String: Int] = [:]

    var isEmpty: Bool {
        if case .nothing = content { true } else { false }
    }

    var isContainer: Bool {
        switch content {
        case .nothing, .text: false
        case .object, .array: true
        }
    }

    var isArray: Bool {
        if case .array = content { true } else { false }
    }

    func set(_ text: FormText) {
        content = .text(text)
    }

    /// Makes it an object, or records that it is one already; false where it is something else.
    func openObject() -> Bool {
        if isEmpty { content = .object }
        if case .object = content { return true }
        return false
    }

    /// Makes it an array, or records that it is one already; false where it is something else.
    func openArray() -> Bool {
        if isEmpty { content = .array }
        return isArray
    }

    /// Puts a part under its name; one of the same name is replaced where it stands.
    func put(_ node: FormNode, under name: String) {
        if let position = positions[name] {
            children[position] = node
        } else {
            positions[name] = children.count
            names.append(name)
            children.append(node)
        }
    }

    func child(named name: String) -> FormNode? {
        positions[name].map { children[$0] }
    }

    func append(_ node: FormNode) {
        children.append(node)
    }

    /// Puts a dictionary's parts in the order of their names.
    func sortByName() {
        let order = names.indices.sorted { names[$0] < names[$1] }
        children = order.map { children[$0] }
        names = order.map { names[$0] }
        positions = Dictionary(zip(names, names.indices)) { first, _ in first }
    }

    /// Puts a set's elements in the order of what they are written as.
    func sortByText() {
        let texts = children.map(\.text)
        children = children.indices.sorted { texts[$0].lexicographicallyPrecedes(texts[$1]) }.map { children[$0] }
    }

    private var text: [String] {
        switch content {
        case .nothing: []
        case .text(let text): [text.sortingText]
        case .object: zip(names, children).flatMap { [$0] + $1.text }
        case .array: children.flatMap(\.text)
        }
    }
}
