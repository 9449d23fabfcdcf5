// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A value of a JSON or YAML document, and its place.
///
/// Members keep their order, and numbers keep their text.
///
/// ApiConnectorContracts reads documents with its own model, whose values are `JSONValue` without order and place. A
/// user's tests would compile this one, which needs readers for JSON and YAML, for nothing.
public final class Node {
    /// The content of a node.
    public enum Content {
        case null
        case bool(Bool)
        /// A number as the document writes it.
        case number(String)
        case string(String)
        case array([Node])
        case object([Member])
    }

    /// A member of an object.
    public struct Member {
        /// The member's name.
        public let key: String
        /// The member's value.
        public let value: Node
    }

    /// The content.
    public let content: Content

    /// The line, counted from 1.
    public let line: Int

    /// The column, counted from 1 in bytes.
    public let column: Int

    private(set) weak var parent: Node?
    private var step = ""
    private var index: [String: Node]?

    /// The name of the node's file; set only on the root of a document.
    var file = ""

    init(_ content: Content, line: Int, column: Int) {
        self.content = content
        self.line = line
        self.column = column
        switch content {
        case .array(let elements):
            for (position, element) in elements.enumerated() { element.move(under: self, at: String(position)) }
        case .object(let members):
            for member in members { member.value.move(under: self, at: member.key) }
            if members.count > 8 {
                index = Dictionary(members.map { ($0.key, $0.value) }) { first, _ in first }
            }
        default: break
        }
    }

    private func move(under parent: Node, at step: String) {
        self.parent = parent
        self.step = step
    }

    /// The node's member name or element index in its parent; empty for a root.
    var key: String { step }

    /// The node at the top of the file.
    var root: Node {
        var node = self
        while let parent = node.parent { node = parent }
        return node
    }

    /// The node's place: the file, `#` and a JSON pointer (RFC 6901).
    public var pointer: String {
        var steps: [String] = []
        var node = self
        while let parent = node.parent {
            steps.append(node.step.replacing("~", with: "~0").replacing("/", with: "~1"))
            node = parent
        }
        return node.file + "#" + steps.reversed().map { "/" + $0 }.joined()
    }
}

extension Node {
    /// The member of an object; nil if there is no such member, or if this is not an object.
    subscript(key: String) -> Node? {
        if let index { return index[key] }
        guard case .object(let members) = content else { return nil }
        return members.first { $0.key == key }?.value
    }

    /// The members of an object; empty for anything else.
    var members: [Member] {
        if case .object(let members) = content { members } else { [] }
    }

    /// The elements of an array; empty for anything else.
    var elements: [Node] {
        if case .array(let elements) = content { elements } else { [] }
    }

    var isObject: Bool {
        if case .object = content { true } else { false }
    }

    var isArray: Bool {
        if case .array = content { true } else { false }
    }

    var isNull: Bool {
        if case .null = content { true } else { false }
    }

    /// The text of a string; nil for any other value.
    var string: String? {
        if case .string(let text) = content { text } else { nil }
    }

    /// The value of a Boolean; nil for any other value.
    var bool: Bool? {
        if case .bool(let value) = content { value } else { nil }
    }

    /// The text of a number; nil for any other value.
    var number: String? {
        if case .number(let text) = content { text } else { nil }
    }

    /// The text of a string, a number or a Boolean.
    var scalarText: String? {
        switch content {
        case .string(let text), .number(let text): text
        case .bool(let value): value ? "true" : "false"
        case .null, .array, .object: nil
        }
    }

    /// The value at a JSON pointer's steps.
    func descendant(_ steps: [String]) -> Node? {
        var node = self
        for step in steps {
            switch node.content {
            case .object:
                guard let next = node[step] else { return nil }
                node = next
            case .array(let elements):
                guard let index = Int(step), elements.indices.contains(index) else { return nil }
                node = elements[index]
            default: return nil
            }
        }
        return node
    }
}
