// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// A hierarchy is a schema with a discriminator that other schemas, its heirs, include by allOf. A value of the schema
// is a value of one of the heirs.

extension SchemaReader {
    /// The schemas that include a schema, directly or indirectly, and the schemas that its mapping names.
    ///
    /// Each schema is listed once.
    ///
    /// An heir with its own discriminator and its own heirs is left out, because its heirs are in the list.
    func heirs(of node: Node) throws(DocumentError) -> [Node] {
        if heirs == nil { heirs = allHeirs() }
        var found: [Node] = []
        var seen: Set<ObjectIdentifier> = [ObjectIdentifier(node)]
        var stack: [Node] = []
        for mapping in node["discriminator"]?["mapping"]?.members ?? [] {
            if let target = try mappingTarget(mapping.value) { stack.append(target) }
        }
        stack += heirs?[ObjectIdentifier(node)] ?? []
        stack.reverse()
        while let next = stack.popLast() {
            guard seen.insert(ObjectIdentifier(next)).inserted else { continue }
            let own = heirs?[ObjectIdentifier(next)] ?? []
            if own.isEmpty || next["discriminator"] == nil { found.append(next) }
            stack += own.reversed()
        }
        return found
    }

    private func allHeirs() -> [ObjectIdentifier: [Node]] {
        var heirs: [ObjectIdentifier: [Node]] = [:]
        for member in documents.root["components"]?["schemas"]?.members ?? [] {
            // A reference without a target is skipped here, and refused where the schema is used.
            guard let heir = try? documents.resolved(member.value) else { continue }
            for part in heir["allOf"]?.elements ?? [] where part["$ref"] != nil {
                guard let base = try? documents.resolved(part) else { continue }
                heirs[ObjectIdentifier(base), default: []].append(heir)
            }
        }
        return heirs
    }

    func allNamesOfFiles() -> [ObjectIdentifier: String] {
        var names: [ObjectIdentifier: String] = [:]
        for member in documents.root["components"]?["schemas"]?.members ?? [] where member.value["$ref"] != nil {
            guard let target = try? documents.resolved(member.value), target.root !== documents.root else { continue }
            names[ObjectIdentifier(target)] = names[ObjectIdentifier(target)] ?? member.key
        }
        return names
    }

    /// The type of a schema with heirs: a union of the heirs' types.
    func hierarchy(
        of heirs: [Node],
        _ node: Node,
        into declaration: Declaration
    ) throws(DocumentError) -> OptionalType {
        var cases: [OptionalType] = []
        for heir in heirs {
            cases.append(try type(of: heir, at: .top(Self.componentName(of: heir), owner: nil)))
        }
        let type = union(cases, hints: heirs.map { Self.componentName(of: $0) }, of: node, into: declaration)
        if type.type.isDeclared(as: declaration), var union = declaration.union {
            union.isHierarchy = true
            declaration.kind = .union(union)
        }
        return type
    }

    /// The schema that a tag of a discriminator's `mapping` names; nil for a value that is not a string.
    func mappingTarget(_ mapping: Node) throws(DocumentError) -> Node? {
        guard let reference = mapping.string else { return nil }
        let schemas = documents.root["components"]?["schemas"]
        if let named = schemas?[reference] { return try documents.resolved(named) }
        let isName = !reference.contains("/") && !reference.contains(".") && !reference.contains("#")
        let path = isName ? "#/components/schemas/\(reference)" : reference
        return try documents.resolved(documents.target(of: path, at: mapping))
    }
}
