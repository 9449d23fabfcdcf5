// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import Foundation

/// The settings of the generator.
public struct Configuration: Sendable {
    /// Which of the document's descriptions become doc comments.
    public enum Documentation: String, Sendable, CaseIterable {
        /// The first sentence of each description; the default.
        case summary
        /// The summaries of operations only.
        case operations
        /// No doc comments.
        case none
    }

    /// The access level of the generated code.
    public enum Access: String, Sendable, CaseIterable {
        /// Visible in its module; the default.
        case `internal`
        /// Visible in every module.
        case `public`
        /// Visible in every module of the package.
        case package
    }

    /// How operations are grouped into routers.
    public enum Routers: String, Sendable, CaseIterable {
        /// One router for each tag; the default.
        case tag
        /// One router for all operations.
        case single
    }

    /// A rule for lists with pages: how to get from one page to the next.
    public struct Pages: Sendable {
        /// The query item with the cursor; nil if ``next`` is the URL of the next page.
        public var query: String?
        /// The JSON pointer (RFC 6901) of the cursor or the URL in the response body.
        public var next: String
        /// The JSON pointer of a Boolean that is false on the last page; nil, the default, if there is no such
        /// member.
        public var whileTrue: String?
        /// The ids of the operations; empty, the default, for each operation to which the rule can apply.
        public var operations: Set<String> = []

        /// Makes a rule for a cursor, or without `query` for the URL of the next page.
        public init(query: String? = nil, next: String) {
            self.query = query
            self.next = next
        }
    }

    /// A choice of models.
    public enum Models: Sendable, Equatable {
        /// All models that can have the conformance.
        case all
        /// The models of the schemas with these names, and all models that they contain.
        case named(Set<String>)
    }

    /// A module of generated code.
    public struct Module: Sendable {
        /// The name of the module and of its folder.
        public var name: String
        /// The tags whose routers are in the module.
        public var tags: Set<String>

        /// Makes a module.
        public init(name: String, tags: Set<String>) {
            self.name = name
            self.tags = tags
        }
    }

    /// The API's name in the names of types; nil, the default, uses the document's title.
    public var name: String?

    /// The prefix of each model's name; empty by default.
    public var prefix = ""

    /// The access level of the code; `internal` by default.
    public var access = Access.internal

    /// How operations are grouped; by tag by default.
    public var routers = Routers.tag

    /// The descriptions that become doc comments; the first sentences by default.
    public var documentation = Documentation.summary

    /// Whether every model is both `Encodable` and `Decodable`; false by default.
    public var isAlwaysCodable = false

    /// The tags whose operations are generated; empty, the default, means all.
    public var tags: Set<String> = []

    /// The path prefixes whose operations are generated; empty, the default, means all.
    public var paths: [String] = []

    /// The ids of the operations that are generated; empty, the default, means all.
    public var operations: Set<String> = []

    /// Whether the names of operations, tags, paths and models that the document does not have are ignored; false by
    /// default.
    ///
    /// ``Interface/changes(to:)`` needs this for a newer document, which may not have them any more. It is not in the
    /// configuration file.
    public var ignoresUnknownNames = false

    /// New names: of functions by operation id, and of models by the name of their schema.
    public var renames: [String: String] = [:]

    /// The rules for lists with pages, in order of precedence; empty by default.
    public var pages: [Pages] = []

    /// The models that are `Equatable`; none by default.
    public var equatable = Models.named([])

    /// The models that are `Hashable`; none by default.
    public var hashable = Models.named([])

    /// The modules for groups of tags; empty, the default, for one module.
    ///
    /// Code that several modules use is in an additional module, which all of them import.
    public var modules: [Module] = []

    /// The maximum number of lines per file; 2,000 by default.
    public var maximumLineCount = 2_000

    /// Makes the default configuration.
    public init() {}

    /// Reads a configuration file of JSON or YAML.
    ///
    /// - Throws: ``DocumentError`` if the file cannot be read, or has an unknown member or a value of the wrong type.
    public init(contentsOf url: URL) throws(DocumentError) {
        let root = try DocumentSet(contentsOf: url).root
        guard root.isObject else { throw DocumentError(at: root, "a configuration has to be an object") }
        for member in root.members { try set(member.key, member.value) }
    }

    private mutating func set(_ key: String, _ node: Node) throws(DocumentError) {
        func one<Value: RawRepresentable<String> & CaseIterable>(_: Value.Type) throws(DocumentError) -> Value {
            if let value = node.string.flatMap({ Value(rawValue: $0) }) { return value }
            let choices = Value.allCases.map(\.rawValue).joined(separator: ", ")
            throw DocumentError(at: node, "`\(key)` must be one of \(choices)")
        }
        switch key {
        case "name": name = try Self.text(key, node)
        case "prefix": prefix = try Self.text(key, node)
        case "access": access = try one(Access.self)
        case "routers": routers = try one(Routers.self)
        case "documentation": documentation = try one(Documentation.self)
        case "alwaysCodable":
            guard let value = node.bool else { throw DocumentError(at: node, "`\(key)` must be true or false") }
            isAlwaysCodable = value
        case "tags": tags = Set(try Self.texts(key, node))
        case "paths": paths = try Self.texts(key, node)
        case "operations": operations = Set(try Self.texts(key, node))
        case "renames":
            for member in try Self.members(key, node) { renames[member.key] = try Self.text(member.key, member.value) }
        case "modules":
            modules = try Self.members(key, node).map { (member) throws(DocumentError) in
                Module(name: member.key, tags: Set(try Self.texts(member.key, member.value)))
            }
        case "pages":
            guard case .array(let rules) = node.content else {
                throw DocumentError(at: node, "`\(key)` must be a list of rules")
            }
            pages = try rules.map { (rule) throws(DocumentError) in try Self.pages(rule) }
        case "equatable": equatable = try Self.models(key, node)
        case "hashable": hashable = try Self.models(key, node)
        default: throw DocumentError(at: node, "unknown setting \(quoted(key))")
        }
    }

    private static func text(_ key: String, _ node: Node) throws(DocumentError) -> String {
        guard let text = node.string else { throw DocumentError(at: node, "`\(key)` must be a string") }
        return text
    }

    private static func texts(_ key: String, _ node: Node) throws(DocumentError) -> [String] {
        let texts = node.elements.compactMap(\.string)
        guard case .array(let elements) = node.content, texts.count == elements.count else {
            throw DocumentError(at: node, "`\(key)` must be a list of strings")
        }
        return texts
    }

    private static func members(_ key: String, _ node: Node) throws(DocumentError) -> [Node.Member] {
        guard node.isObject else { throw DocumentError(at: node, "`\(key)` must be an object") }
        return node.members
    }

    private static func pages(_ node: Node) throws(DocumentError) -> Pages {
        for member in node.members where !["query", "next", "while", "operations"].contains(member.key) {
            throw DocumentError(at: member.value, "unknown setting \(quoted(member.key))")
        }
        guard let next = node["next"] else {
            throw DocumentError(at: node, "a list with pages needs `next`, the JSON pointer of the cursor or the URL")
        }
        var pages = Pages(next: try text("next", next))
        if let query = node["query"] { pages.query = try text("query", query) }
        if let flag = node["while"] { pages.whileTrue = try text("while", flag) }
        if let operations = node["operations"] { pages.operations = Set(try texts("operations", operations)) }
        for pointer in [pages.next, pages.whileTrue].compactMap(\.self) where !pointer.hasPrefix("/") {
            throw DocumentError(at: node, "\(quoted(pointer)) is not a JSON pointer; it has to start with a slash")
        }
        return pages
    }

    private static func models(_ key: String, _ node: Node) throws(DocumentError) -> Models {
        if let isAll = node.bool { return isAll ? .all : .named([]) }
        if case .array = node.content { return .named(Set(try texts(key, node))) }
        throw DocumentError(at: node, "`\(key)` must be true, false or a list of schema names")
    }

    func selects(_ operation: Operation) -> Bool {
        if tags.isEmpty, paths.isEmpty, operations.isEmpty { return true }
        return operation.tags.contains { tags.contains($0) } || paths.contains { operation.path.hasPrefix($0) }
            || operations.contains(operation.id ?? operation.title)
    }
}
