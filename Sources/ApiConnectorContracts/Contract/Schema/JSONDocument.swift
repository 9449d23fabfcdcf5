// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A JSON document whose values are named by pointers.
final class JSONDocument: Sendable {
    let root: JSONValue

    /// The anchors by name.
    ///
    /// They are collected when the first reference to an anchor is followed.
    private let anchors = Locked<[String: [String]]?>(nil)

    init(_ root: JSONValue) {
        self.root = root
    }

    var rootNode: JSONNode { JSONNode(value: root, steps: [], document: self) }

    /// The value that a `$ref` names; nil if it is not in this document.
    func target(of reference: String) -> JSONNode? {
        guard reference.hasPrefix("#") else { return nil }
        let fragment = reference.dropFirst().removingPercentEncoding ?? String(reference.dropFirst())
        if fragment.isEmpty { return rootNode }
        guard fragment.hasPrefix("/") else { return steps(toAnchor: fragment).flatMap(node) }
        let steps = fragment.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map {
            String($0).replacing("~1", with: "/").replacing("~0", with: "~")
        }
        return node(at: steps)
    }

    private func node(at steps: [String]) -> JSONNode? {
        steps.reduce(rootNode) { $0?[$1] }
    }

    private func steps(toAnchor name: String) -> [String]? {
        anchors.withLock { anchors in
            if anchors == nil { anchors = allAnchors() }
            return anchors?[name]
        }
    }

    private func allAnchors() -> [String: [String]] {
        var anchors: [String: [String]] = [:]
        var stack: [(value: JSONValue, steps: [String])] = [(root, [])]
        while let (value, steps) = stack.popLast() {
            switch value {
            case .object(let members):
                if let name = members["$anchor"]?.string, anchors[name] == nil { anchors[name] = steps }
                // The values of `const` and `enum` are not schemas. The members are sorted for a document that wrongly
                // defines an anchor twice: each run then uses the same definition.
                stack += members.filter { $0.key != "const" && $0.key != "enum" }
                    .sorted { $0.key > $1.key }
                    .map { ($0.value, steps + [$0.key]) }
            case .array(let elements):
                stack += elements.enumerated().map { ($0.element, steps + ["\($0.offset)"]) }
            default: break
            }
        }
        return anchors
    }
}
