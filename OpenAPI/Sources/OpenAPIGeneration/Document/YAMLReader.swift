// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

internal import Foundation

/// Reads YAML into a tree with lines and columns.
///
/// Types follow the JSON schema of YAML 1.2. The other types of YAML 1.1 are read as text.
struct YAMLReader {
    /// A value that aliases repeat.
    private struct Anchored {
        let node: Node
        /// The text of a scalar, which can also be a member's name.
        let name: String?
    }

    private let file: String
    private let limits: DocumentLimits
    private(set) var valueCount = 0
    private var aliasValueCount = 0
    private var aliasByteCount = 0
    private var anchored: [String: Anchored] = [:]

    init(file: String, limits: DocumentLimits) {
        self.file = file
        self.limits = limits
    }

    mutating func read(_ data: Data) throws(DocumentError) -> Node {
        guard let text = String(data: data, encoding: .utf8) else {
            throw DocumentError("\(file): the YAML is not UTF-8")
        }
        let events = YAMLEvents(text, file: file)
        try events.checkCosts()
        guard case .documentStart = try events.next().kind else {
            throw DocumentError("\(file): the YAML has no document")
        }
        let node = try value(events, try events.next(), depth: 0)
        _ = try events.next()
        let last = try events.next()
        guard case .fileEnd = last.kind else {
            throw error("the file has more than one document", last.line, last.column)
        }
        node.file = file
        return node
    }

    private func error(_ sentence: String, _ line: Int, _ column: Int) -> DocumentError {
        DocumentError(file: file, line: line, column: column, "the YAML is refused: \(sentence)")
    }

    private func error(_ sentence: String, _ event: YAMLEvent) -> DocumentError {
        error(sentence, event.line, event.column)
    }

    /// Checks the limits for one more value.
    private mutating func count(line: Int, column: Int, depth: Int) throws(DocumentError) {
        valueCount += 1
        guard valueCount <= limits.valueCount else { throw error(limits.valueCountSentence, line, column) }
        guard depth <= limits.depth else {
            throw error("the document is nested more than \(limits.depth) levels deep", line, column)
        }
    }

    /// Reads the value that starts with an event.
    private mutating func value(_ events: YAMLEvents, _ event: YAMLEvent, depth: Int) throws(DocumentError) -> Node {
        if case .alias(let anchor) = event.kind {
            guard let target = anchored[anchor] else { throw error("an alias has no target", event) }
            return try copy(target.node, depth: depth)
        }
        try count(line: event.line, column: event.column, depth: depth)
        let content: Node.Content
        switch event.kind {
        case .scalar(let text, let isText): content = Self.content(of: text, isText: isText)
        case .listStart: content = .array(try elements(events, depth: depth))
        case .objectStart: content = .object(try members(events, depth: depth))
        case .alias, .end, .documentStart, .fileEnd: throw error("a value is missing", event)
        }
        return keep(Node(content, line: event.line, column: event.column), event)
    }

    /// Keeps a value that has an anchor for aliases.
    private mutating func keep(_ node: Node, _ event: YAMLEvent) -> Node {
        if let anchor = event.anchor { anchored[anchor] = Anchored(node: node, name: event.text) }
        return node
    }

    private mutating func elements(_ events: YAMLEvents, depth: Int) throws(DocumentError) -> [Node] {
        var elements: [Node] = []
        while true {
            let event = try events.next()
            if case .end = event.kind { return elements }
            elements.append(try value(events, event, depth: depth + 1))
        }
    }

    private mutating func members(_ events: YAMLEvents, depth: Int) throws(DocumentError) -> [Node.Member] {
        var members: [Node.Member] = []
        var merged: [Node] = []
        var names: Set<String> = []
        while true {
            let event = try events.next()
            if case .end = event.kind { return Self.merge(merged, into: members) }
            let name = try self.name(event)
            let value = try value(events, try events.next(), depth: depth + 1)
            guard names.insert(name).inserted else { throw error("the member \(quoted(name)) appears twice", event) }
            if case .scalar("<<", isText: false) = event.kind {
                merged = value.isObject ? [value] : value.elements
                guard merged.allSatisfy(\.isObject), !merged.isEmpty else {
                    throw error("`<<` needs an object or a list of objects", event)
                }
            } else {
                members.append(Node.Member(key: name, value: value))
            }
        }
    }

    /// The name of a member.
    private mutating func name(_ event: YAMLEvent) throws(DocumentError) -> String {
        switch event.kind {
        case .scalar(let text, let isText):
            _ = keep(Node(Self.content(of: text, isText: isText), line: event.line, column: event.column), event)
            return text
        case .alias(let anchor):
            if let name = anchored[anchor]?.name {
                try countCopy(of: name, event.line, event.column)
                return name
            }
        default: break
        }
        throw error("the name of a member is not a string", event)
    }

    /// Checks the limits for one more value or name that an alias repeats.
    private mutating func countCopy(of text: String, _ line: Int, _ column: Int) throws(DocumentError) {
        aliasValueCount += 1
        guard aliasValueCount <= limits.aliasValueCount else {
            throw error("its aliases expand to more than \(limits.aliasValueCount) values", line, column)
        }
        aliasByteCount += text.utf8.count
        guard aliasByteCount <= limits.byteCount else {
            throw error("its aliases expand to more than \(limits.byteCount) bytes", line, column)
        }
    }

    /// Copies the target of an alias, because each node has one place in the tree.
    private mutating func copy(_ node: Node, depth: Int) throws(DocumentError) -> Node {
        try countCopy(of: node.string ?? "", node.line, node.column)
        try count(line: node.line, column: node.column, depth: depth)
        var content = node.content
        switch content {
        case .array(let elements):
            var copies: [Node] = []
            for element in elements { copies.append(try copy(element, depth: depth + 1)) }
            content = .array(copies)
        case .object(let members):
            var copies: [Node.Member] = []
            for member in members {
                aliasByteCount += member.key.utf8.count
                copies.append(Node.Member(key: member.key, value: try copy(member.value, depth: depth + 1)))
            }
            content = .object(copies)
        default: break
        }
        return Node(content, line: node.line, column: node.column)
    }

    /// The members, followed by the members that YAML 1.1's merge keys add.
    ///
    /// If two merged members have the same name, the first one is used.
    private static func merge(_ merged: [Node], into members: [Node.Member]) -> [Node.Member] {
        if merged.isEmpty { return members }
        var members = members
        var keys = Set(members.map(\.key))
        for member in merged.flatMap(\.members) where keys.insert(member.key).inserted { members.append(member) }
        return members
    }

    private static func content(of text: String, isText: Bool) -> Node.Content {
        if isText { return .string(text) }
        switch text {
        case "", "~", "null", "Null", "NULL": return .null
        case "true", "True", "TRUE": return .bool(true)
        case "false", "False", "FALSE": return .bool(false)
        default: return isNumber(text) ? .number(text) : .string(text)
        }
    }

    private static func isNumber(_ text: String) -> Bool {
        guard let first = text.utf8.first, first == UInt8(ascii: "-") || UInt8(ascii: "0")...UInt8(ascii: "9") ~= first
        else { return false }
        let isPlain = text.utf8.allSatisfy { byte in
            UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
                || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E")
        }
        return isPlain && Double(text) != nil
    }
}
