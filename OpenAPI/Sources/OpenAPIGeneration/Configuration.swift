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

    /// New names: of functions by operation id, and of models by the name of their schema.
    public var renames: [String: String] = [:]

    /// The maximum number of lines per file; 2,000 by default.
    public var maximumLineCount = 2_000

    /// Makes the default configuration.
    public init() {}

    /// Reads a configuration file of JSON or YAML.
    ///
    /// - Throws: ``DocumentError`` if the file cannot be read or has an unknown member.
    public init(contentsOf url: URL) throws(DocumentError) {
        let root = try DocumentSet(contentsOf: url).root
        for member in root.members { try set(member.key, member.value) }
    }

    private mutating func set(_ key: String, _ node: Node) throws(DocumentError) {
        func one<Value: RawRepresentable<String> & CaseIterable>(_: Value.Type) throws(DocumentError) -> Value {
            if let value = node.string.flatMap({ Value(rawValue: $0) }) { return value }
            let choices = Value.allCases.map(\.rawValue).joined(separator: ", ")
            throw DocumentError(at: node, "`\(key)` must be one of \(choices)")
        }
        switch key {
        case "name": name = node.string
        case "prefix": prefix = node.string ?? ""
        case "access": access = try one(Access.self)
        case "routers": routers = try one(Routers.self)
        case "documentation": documentation = try one(Documentation.self)
        case "alwaysCodable": isAlwaysCodable = node.bool ?? false
        case "tags": tags = Set(node.elements.compactMap(\.string))
        case "paths": paths = node.elements.compactMap(\.string)
        case "operations": operations = Set(node.elements.compactMap(\.string))
        case "renames":
            for member in node.members { renames[member.key] = member.value.string }
        default: throw DocumentError(at: node, "unknown setting \(quoted(key))")
        }
    }

    func selects(_ operation: Operation) -> Bool {
        if tags.isEmpty, paths.isEmpty, operations.isEmpty { return true }
        return operation.tags.contains { tags.contains($0) } || paths.contains { operation.path.hasPrefix($0) }
            || operations.contains(operation.id ?? operation.title)
    }
}
