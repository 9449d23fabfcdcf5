// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Writes the tree of an encoded value as names and texts.
struct FormWriter {
    let encoding: FormEncoding
    private(set) var items: [FormItem] = []

    init(encoding: FormEncoding) {
        self.encoding = encoding
    }

    /// Writes a whole value, which is an object.
    mutating func write(_ root: FormNode) throws(FormRefusal) {
        try writeParts(of: root, under: nil)
    }

    private mutating func write(_ node: FormNode, under name: String) throws(FormRefusal) {
        switch node.content {
        case .nothing: break
        case .text(let text): items.append(FormItem(name: name, texts: [text]))
        case .object: try writeParts(of: node, under: name)
        case .array: try writeElements(of: node, under: name)
        }
    }

    private mutating func writeParts(of node: FormNode, under outer: String?) throws(FormRefusal) {
        for (key, child) in zip(node.names, node.children) {
            let style = encoding.nestedKeys
            let name = outer.map { $0 + style.before + key + style.after } ?? key
            do throws(FormRefusal) {
                try write(child, under: name)
            } catch {
                throw error.below(FormKey(stringValue: key))
            }
        }
    }

    private mutating func writeElements(of node: FormNode, under name: String) throws(FormRefusal) {
        let isNested = node.children.contains(where: \.isContainer)
        switch encoding.arrays.kind {
        case .repeated where !isNested: try writeElements(of: node) { _ in name }
        case .brackets where !isNested: try writeElements(of: node) { _ in name + "[]" }
        case .comma where !isNested: try writeJoined(node, under: name)
        default: try writeElements(of: node) { "\(name)[\($0)]" }
        }
    }

    private mutating func writeElements(of node: FormNode, name: (Int) -> String) throws(FormRefusal) {
        var index = 0
        for (position, child) in node.children.enumerated() {
            let countBefore = items.count
            do throws(FormRefusal) {
                try write(child, under: name(index))
            } catch {
                throw error.below(FormKey(index: position))
            }
            if items.count > countBefore { index += 1 }
        }
    }

    private mutating func writeJoined(_ node: FormNode, under name: String) throws(FormRefusal) {
        var texts: [FormText] = []
        for (position, child) in node.children.enumerated() {
            guard case .text(let text) = child.content else { continue }
            if case .text(let text) = text, text.utf8.contains(UInt8(ascii: ",")) {
                throw FormRefusal.comma.below(FormKey(index: position))
            }
            texts.append(text)
        }
        if !texts.isEmpty { items.append(FormItem(name: name, texts: texts)) }
    }
}

extension FormRefusal {
    /// The same refusal with the key of the next outer level; the path is in reverse order.
    fileprivate func below(_ key: FormKey) -> FormRefusal {
        var refusal = self
        refusal.path.append(key)
        return refusal
    }
}
