// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A name with texts, which are joined by commas; an item of a query or a form.
struct FormItem: Sendable {
    let name: String

    /// Empty for a name without a value.
    let texts: [FormText]

    init(name: String, texts: [FormText]) {
        self.name = name
        self.texts = texts
    }

    /// An item of a query literal.
    init(name: String, value: (any ApiQueryValue)?) {
        self.name = name
        if let date = value as? Date {
            texts = [.date(date, [FormKey(stringValue: name)])]
        } else {
            texts = value.map { [.text($0.queryText)] } ?? []
        }
    }

    var isDated: Bool { texts.contains(where: \.isDate) }
}

/// A text, or a date that the connection's encoder writes.
enum FormText: Sendable {
    case text(String)
    /// The date and its coding path.
    case date(Date, [any CodingKey])

    var isDate: Bool { if case .date = self { true } else { false } }

    /// The text by which a set's elements are sorted.
    var sortingText: String {
        switch self {
        case .text(let text): text
        case .date(let date, _): String(date.timeIntervalSince1970)
        }
    }

    /// - Parameter encoder: The connection's encoder; nil, or an encoder with Foundation's default style, writes ISO
    ///   8601.
    func written(with encoder: JSONEncoder?) throws(FormRefusal) -> String {
        switch self {
        case .text(let text): return text
        case .date(let date, let path):
            do throws(FormRefusal) {
                guard let encoder, !encoder.writesReferenceDates else {
                    return try FormEncoding.DateStyle.iso8601.text(date)
                }
                return try Self.text(of: date, with: encoder)
            } catch {
                throw error.at(path, of: date)
            }
        }
    }

    private static func text(of date: Date, with encoder: JSONEncoder) throws(FormRefusal) -> String {
        let json: Data
        do {
            json = try encoder.encode([date])
        } catch EncodingError.invalidValue(_, let context) {
            throw FormRefusal(ApiConnectorError.sentence(context.debugDescription))
        } catch {
            throw FormRefusal("the connection's encoder does not encode it")
        }
        switch (try? JSONValue(json: json))?[0] {
        case .string(let text): return text
        case .number(let number): return number.description
        default:
            throw FormRefusal("the connection's encoder writes neither a string nor a number for it")
        }
    }
}

extension [FormItem] {
    /// The items of a query.
    func written(with encoder: JSONEncoder?) throws(FormRefusal) -> [URLQueryItem] {
        var items: [URLQueryItem] = []
        items.reserveCapacity(count)
        for item in self {
            var texts: [String] = []
            for text in item.texts {
                let written = try text.written(with: encoder)
                if item.texts.count > 1, text.isDate, written.contains(",") { throw .comma }
                texts.append(written)
            }
            items.append(URLQueryItem(name: item.name, value: texts.isEmpty ? nil : texts.joined(separator: ",")))
        }
        return items
    }
}

extension JSONEncoder {
    /// Whether it writes dates in Foundation's default style: seconds since 2001, which backends without
    /// Foundation do not read.
    fileprivate var writesReferenceDates: Bool {
        if case .deferredToDate = dateEncodingStrategy { true } else { false }
    }
}

extension FormRefusal {
    static let comma = FormRefusal(
        "an element contains a comma, which would split it in two; use another array style"
    )
}

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
