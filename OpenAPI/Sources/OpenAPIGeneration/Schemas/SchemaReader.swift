// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

internal import Foundation

/// Makes one type per schema.
final class SchemaReader {
    /// Where a schema is.
    ///
    /// The name of its type depends on this place.
    enum Place {
        /// At the top level: a component, or the schema of a file.
        case top(String, owner: String?)
        /// Within another type.
        case nested(Declaration, String)
    }

    let documents: DocumentSet
    let warnings: Warnings
    /// All declarations, in the order in which they were read.
    private(set) var declarations: [Declaration] = []
    private(set) var known: [ObjectIdentifier: OptionalType] = [:]
    private var inProgress: [ObjectIdentifier: Declaration] = [:]
    private var referencedInProgress: Set<ObjectIdentifier> = []
    private var depth = 0
    private var memberCount = 0
    /// The parts of referenced objects, with the type in which their inline types are nested.
    var knownParts: [PartsKey: (home: Declaration, parts: ObjectParts)] = [:]
    /// For each schema, the schemas that include it by `allOf`; nil before the first use.
    var heirs: [ObjectIdentifier: [Node]]?
    /// The names of the components that are only a reference to another file, by the schema in that file.
    private(set) lazy var namesOfFiles: [ObjectIdentifier: String] = allNamesOfFiles()
    /// The forms whose parts have media types, by the description of their bodies.
    var forms: [ObjectIdentifier: Declaration] = [:]
    /// The type of the merge patches of each type.
    var patches: [ObjectIdentifier: Declaration] = [:]

    init(_ documents: DocumentSet, _ warnings: Warnings) {
        self.documents = documents
        self.warnings = warnings
    }

    /// The type of a schema.
    func type(of node: Node, at place: Place) throws(DocumentError) -> OptionalType {
        if node["$ref"]?.string != nil {
            let target = try documents.resolved(node)
            warnOfSiblings(of: node)
            var type = try type(of: target, at: .top(Self.componentName(of: target), owner: nil))
            if node["nullable"]?.bool == true { type.isNullable = true }
            return type
        }
        let id = ObjectIdentifier(node)
        if let type = known[id] { return type }
        if let declaration = inProgress[id] {
            referencedInProgress.insert(id)
            return OptionalType(type: .declared(declaration), isNullable: isNullable(node))
        }
        let declaration: Declaration
        switch place {
        case .top(let name, let owner):
            declaration = Declaration(node, named: Identifier.type(name), in: nil)
            declaration.owner = owner
        case .nested(let parent, let name):
            declaration = Declaration(node, named: Identifier.type(name), in: parent)
        }
        guard depth < documents.limits.schemaDepth else {
            throw DocumentError(at: node, "schemas are nested in each other more than \(depth) levels deep")
        }
        depth += 1
        inProgress[id] = declaration
        let result: OptionalType
        do throws(DocumentError) {
            result = try read(node, into: declaration)
        } catch {
            depth -= 1
            inProgress[id] = nil
            throw error
        }
        depth -= 1
        inProgress[id] = nil
        if result.type.isDeclared(as: declaration) {
            if case .pending = declaration.kind {
                throw DocumentError(
                    at: node,
                    "the schema refers only to itself, so it describes no value"
                )
            }
            add(declaration)
        } else if referencedInProgress.contains(id) {
            declaration.kind = .wrapper(result)
            add(declaration)
            let wrapped = OptionalType(type: .declared(declaration), isNullable: result.isNullable)
            known[id] = wrapped
            return wrapped
        }
        known[id] = result
        return result
    }

    /// Counts the members of an object, including the members of its `allOf` parts.
    func count(_ members: Int, of node: Node) throws(DocumentError) {
        memberCount += members
        if memberCount > documents.limits.memberCount {
            throw DocumentError(at: node, "the objects have more than \(documents.limits.memberCount) members in total")
        }
    }

    /// Records a finished declaration.
    func add(_ declaration: Declaration) {
        declaration.documentation = PlainText.firstSentence(declaration.node["description"]?.string)
        let title = declaration.node["title"]?.string ?? ""
        if declaration.documentation == nil, Identifier.type(title) != declaration.wantedName {
            declaration.documentation = PlainText.firstSentence(title)
        }
        declarations.append(declaration)
        declaration.parent?.nested.append(declaration)
    }

    func types(of node: Node) -> [String] {
        if let type = node["type"]?.string { return [type] }
        return node["type"]?.elements.compactMap(\.string) ?? []
    }

    func isNullable(_ node: Node) -> Bool {
        node["nullable"]?.bool == true || types(of: node).contains("null")
            || node["enum"]?.elements.contains(where: \.isNull) == true || node["const"]?.isNull == true
    }

    private func read(_ node: Node, into declaration: Declaration) throws(DocumentError) -> OptionalType {
        if node.bool == true { return OptionalType(type: .json) }
        if node.bool == false {
            warnings.add(node, "no value matches the schema false; the type is JSONValue")
            return OptionalType(type: .json)
        }
        guard node.isObject else { throw DocumentError(at: node, "a schema has to be an object or a Boolean") }
        warnOfKeywords(in: node)
        var result = try readShape(node, into: declaration)
        if isNullable(node) { result.isNullable = true }
        return result
    }

    private func readShape(_ node: Node, into declaration: Declaration) throws(DocumentError) -> OptionalType {
        let alternatives = self.alternatives(of: node)
        if node["oneOf"] != nil, let other = node["anyOf"], !other.elements.allSatisfy(Self.isTrivial) {
            warnings.add(other, "`anyOf` next to `oneOf` is not supported; `oneOf` is used")
        }
        if alternatives.isEmpty, node["discriminator"] != nil {
            let heirs = try heirs(of: node)
            if !heirs.isEmpty { return try hierarchy(of: heirs, node, into: declaration) }
            if let discriminator = node["discriminator"] {
                warnings.add(discriminator, "no schema includes this one by allOf, so the discriminator is ignored")
            }
        }
        if let only = try lonePart(of: node) { return try type(of: only, at: .top("", owner: nil)) }
        let hasOwn = node["properties"] != nil || node["required"]?.elements.isEmpty == false
        if node["allOf"]?.elements.isEmpty == false || (!alternatives.isEmpty && hasOwn) {
            return try merge(node, into: declaration)
        }
        if !alternatives.isEmpty { return try union(of: alternatives, of: node, into: declaration) }
        if node["enum"]?.isArray == true || node["const"] != nil {
            return enumeration([node], of: node, into: declaration)
        }
        let types = types(of: node).filter { $0 != "null" }
        if types.count > 1 {
            // If the schema has several types, each keyword belongs to one of them.
            var cases: [OptionalType] = []
            for type in types {
                if let scalar = simple(type, node, declaration) {
                    cases.append(OptionalType(type: scalar))
                } else {
                    cases.append(try alternative(type, node, declaration))
                }
            }
            return union(cases, hints: types, of: node, into: declaration)
        }
        let type = types.first ?? implied(node)
        guard let type else { return OptionalType(type: .json) }
        if let scalar = simple(type, node, declaration) { return OptionalType(type: scalar) }
        return try container(type, node, declaration)
    }

    private func implied(_ node: Node) -> String? {
        if node["properties"] != nil || node["additionalProperties"]?.isObject == true { return "object" }
        if node["items"] != nil { return "array" }
        return node["format"]?.string.map { ["int32", "int64"].contains($0) ? "integer" : "string" }
    }

    private func simple(_ type: String, _ node: Node, _ declaration: Declaration) -> TypeUse? {
        switch type {
        case "boolean": .bool
        case "integer":
            switch node["format"]?.string {
            case "int32": .int32
            case "int64", "uint32": .int64
            case "uint64": .uint64
            default: .int
            }
        case "number": node["format"]?.string == "decimal" ? .decimal : .double
        case "string": text(node)
        case "object", "array": nil
        default: unknown(type, node)
        }
    }

    private func unknown(_ type: String, _ node: Node) -> TypeUse {
        warnings.add(node, "unknown type \(quoted(type)); the generated type is JSONValue")
        return .json
    }

    private func text(_ node: Node) -> TypeUse {
        switch node["format"]?.string {
        case "date-time": return .dateTime
        case "date": return .day
        case "uuid": return .uuid
        case "uri", "url": return .url
        case "byte": return .data
        case "binary": return .binary
        case "decimal": return .decimalText
        default: break
        }
        if node["contentEncoding"]?.string == "base64" { return .data }
        if let media = node["contentMediaType"]?.string, !media.hasPrefix("text/"), !media.contains("json") {
            return .binary
        }
        return .string
    }

    /// An array or an object that is one of several types.
    private func alternative(
        _ type: String,
        _ node: Node,
        _ declaration: Declaration
    ) throws(DocumentError) -> OptionalType {
        if type == "array" { return try container(type, node, declaration) }
        let own = Declaration(node, named: "Object", in: declaration)
        let result = try container(type, node, own)
        if result.type.isDeclared(as: own) { add(own) }
        return result
    }

    private func container(
        _ type: String,
        _ node: Node,
        _ declaration: Declaration
    ) throws(DocumentError) -> OptionalType {
        if type == "array" {
            guard let items = node["items"] else { return OptionalType(type: .array(OptionalType(type: .json))) }
            let name = declaration.wantedName
            let element = name + "Item"
            let place: Place
            if let parent = declaration.parent {
                place = .nested(parent, Identifier.singular(name) ?? element)
            } else {
                place = .top(element, owner: declaration.owner)
            }
            return OptionalType(type: .array(try self.type(of: items, at: place)))
        }
        let parts = try objectParts(of: node, home: declaration)
        return try finish(parts, into: declaration)
    }

    /// The name of a reference's target: a component's name, or its file's name.
    static func componentName(of node: Node) -> String {
        var node = node
        var name = node.key
        while ["schema", "items", "allOf", "oneOf", "anyOf", "content"].contains(name) || Int(name) != nil
            || name.contains("/"), let parent = node.parent, !["schemas", "$defs"].contains(parent.key)
        {
            node = parent
            name = node.key
        }
        if !name.isEmpty { return name }
        let file = node.root.file.split(separator: "/").last.map(String.init) ?? "Schema"
        return file.split(separator: ".").first.map(String.init) ?? file
    }
}
