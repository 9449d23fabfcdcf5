// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A value of a document, with its place.
struct JSONNode: Sendable {
    let value: JSONValue
    let steps: [String]
    let document: JSONDocument

    /// The JSON pointer (RFC 6901), as a fragment.
    var pointer: String { "#" + steps.pointer }

    /// A member of an object or an element of an array; nil if there is no such value.
    subscript(step: String) -> JSONNode? {
        switch value {
        case .object(let members):
            members[step].map { JSONNode(value: $0, steps: steps + [step], document: document) }
        case .array(let elements):
            Int(step).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
                .map { JSONNode(value: $0, steps: steps + [step], document: document) }
        default: nil
        }
    }

    /// The members of an object in the order of their names; empty for anything else.
    var members: [(key: String, node: JSONNode)] {
        (value.object ?? [:]).keys.sorted().compactMap { key in self[key].map { (key, $0) } }
    }

    /// The elements of an array; empty for anything else.
    var elements: [JSONNode] {
        (value.array ?? []).indices.compactMap { self["\($0)"] }
    }

    /// The value at the end of a chain of `$ref`; nil if the chain leads to no value.
    var resolved: JSONNode? {
        guard value.object?["$ref"] != nil else { return self }
        return references.last
    }

    /// This value and the values that its chain of `$ref` leads to; empty if the chain leads to no value.
    var references: [JSONNode] {
        var nodes = [self]
        while let node = nodes.last, let reference = node.value.object?["$ref"]?.string {
            guard nodes.count <= 100, let target = document.target(of: reference) else { return [] }
            nodes.append(target)
        }
        return nodes
    }

    /// This schema and the schemas that it combines by `$ref` and by keywords such as `allOf`.
    ///
    /// The keywords beside a `$ref` come first.
    func combined(by keywords: [String]) -> [JSONNode] {
        var found: [JSONNode] = []
        var visited: Set<String> = []
        func visit(_ schema: JSONNode, depth: Int) {
            for node in schema.references where depth < 32 && visited.insert(node.pointer).inserted {
                found.append(node)
                for part in keywords.flatMap({ node[$0]?.elements ?? [] }) { visit(part, depth: depth + 1) }
            }
        }
        visit(self, depth: 0)
        return found
    }

    /// Whether a Boolean member exists and is true.
    func isTrue(_ key: String) -> Bool { value.object?[key]?.bool == true }

    /// A member that is a string; nil for any other member.
    func text(_ key: String) -> String? { value.object?[key]?.string }

    /// The names in a schema's `type`; empty if it allows every type.
    var types: [String] {
        guard let type = value.object?["type"] else { return [] }
        return type.string.map { [$0] } ?? type.array?.compactMap(\.string) ?? []
    }
}

extension [String] {
    /// The steps as a JSON pointer; empty for the whole document.
    var pointer: String {
        map { "/" + $0.replacing("~", with: "~0").replacing("/", with: "~1") }.joined()
    }
}
