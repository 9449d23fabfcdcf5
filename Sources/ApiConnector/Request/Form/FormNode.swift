// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A node in the tree of an encoded value.
///
/// It is a class, because nested containers and super encoders write into nodes that are already in the tree.
final class FormNode {
    enum Content {
        case nothing
        case text(FormText)
        case object
        case array
    }

    /// The kind of node; `nothing` for nil and for values that were not written.
    private(set) var content = Content.nothing

    /// The parts of an object or an array, in order.
    private(set) var children: [FormNode] = []

    /// The names of an object's parts, in the order of `children`.
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

    /// Turns an empty node into an object; returns false if it is something else.
    func openObject() -> Bool {
        if isEmpty { content = .object }
        if case .object = content { return true }
        return false
    }

    /// Turns an empty node into an array; returns false if it is something else.
    func openArray() -> Bool {
        if isEmpty { content = .array }
        return isArray
    }

    /// Adds a part with a name; replaces a part with the same name in its place.
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

    /// Sorts a dictionary's parts by name.
    func sortByName() {
        let order = names.indices.sorted { names[$0] < names[$1] }
        children = order.map { children[$0] }
        names = order.map { names[$0] }
        positions = Dictionary(zip(names, names.indices)) { first, _ in first }
    }

    /// Sorts a set's elements by their text.
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
