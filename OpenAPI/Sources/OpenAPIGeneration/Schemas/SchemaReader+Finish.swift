// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// The decisions after all schemas were read: how alternatives are distinguished, names, and types that contain
// themselves.

extension SchemaReader {
    /// Completes all declarations.
    func finish() throws(DocumentError) {
        for declaration in declarations {
            var parent = declaration.parent
            while let above = parent, case .pending = above.kind { parent = above.parent }
            if parent !== declaration.parent {
                declaration.parent = parent
                parent?.nested.append(declaration)
            }
        }
        // Inner types come first, because some alternatives are distinguished by the members of other types.
        for declaration in declarations where declaration.union != nil { try tellApart(declaration) }
        try breakCycles()
    }

    /// Changes alternatives to JSONValue if they are received, but cannot be distinguished.
    ///
    /// Alternatives that are only sent are kept.
    ///
    /// - Returns: Whether any alternatives were changed.
    func giveUpAmbiguous() -> Bool {
        var isChanged = false
        for declaration in declarations where declaration.usage.contains(.response) {
            guard let problem = declaration.union?.ambiguity else { continue }
            warnings.add(declaration.node, "\(problem), so the generated type is JSONValue")
            declaration.kind = .opaque
            isChanged = true
        }
        if isChanged {
            for declaration in declarations { declaration.usage = [] }
        }
        return isChanged
    }

    /// The type found for a schema.
    private func declaration(of node: Node) -> Declaration? {
        guard case .declared(let declaration)? = known[ObjectIdentifier(node)]?.type else { return nil }
        return declaration
    }

    private func tellApart(_ declaration: Declaration) throws(DocumentError) {
        guard var union = declaration.union else { return }
        for index in union.cases.indices {
            guard case .declared(let declared) = union.cases[index].type, let structure = declared.structure else {
                continue
            }
            union.cases[index].required = structure.properties.filter(\.isRequired).map(\.key)
        }
        let objects = union.cases.indices.filter { !isPlain(union.cases[$0].type) }
        if let discriminator = union.discriminator, let key = discriminator["propertyName"]?.string {
            try readTags(&union, key, discriminator)
        } else if objects.count > 1, let key = impliedTag(union, objects) {
            union.tag = key
            for index in objects { union.cases[index].tags = values(of: key, in: union.cases[index].type) }
        }
        if !union.isOpen {
            // Error types are tried in order. The type with the most required members comes first, and a type for any
            // JSON last.
            let order = union.cases.indices.sorted { left, right in
                func rank(_ index: Int) -> Int {
                    let type = union.cases[index].type
                    return type.isJSON ? 2 : type.openness == .everything ? 1 : -union.cases[index].required.count
                }
                return (rank(left), left) < (rank(right), right)
            }
            union.cases = order.map { union.cases[$0] }
            union.tag = nil
            declaration.kind = .union(union)
        } else {
            union.ambiguity = ambiguity(in: union)
            declaration.kind = .union(union)
        }
    }

    /// Whether the kind of the JSON value alone distinguishes the type from an object.
    private func isPlain(_ type: TypeUse) -> Bool {
        switch type {
        case .dictionary: false
        case .declared(let declared): declared.enumeration != nil
        default: true
        }
    }

    private func readTags(_ union: inout Union, _ key: String, _ discriminator: Node) throws(DocumentError) {
        union.tag = key
        var tags = union.cases.map { values(of: key, in: $0.type) }
        if union.isHierarchy {
            // A schema with several values is the base, which lists the values of all heirs.
            tags = tags.map { $0.count == 1 ? $0 : [] }
        }
        func index(of mapping: Node) throws(DocumentError) -> Int? {
            guard let target = try mappingTarget(mapping), let named = declaration(of: target) else { return nil }
            return union.cases.firstIndex { $0.type.isDeclared(as: named) }
        }
        var isMapped: Set<String> = []
        for mapping in discriminator["mapping"]?.members ?? [] {
            guard let owner = try index(of: mapping.value) else {
                warnings.add(mapping.value, "the schema of this tag is not one of the alternatives")
                continue
            }
            // The mapping takes precedence over the values that the schemas list.
            isMapped.insert(mapping.key)
            for other in tags.indices { tags[other].removeAll { $0 == mapping.key } }
            tags[owner].append(mapping.key)
        }
        for index in union.cases.indices {
            if tags[index].isEmpty, case .declared(let declared) = union.cases[index].type {
                let name = namesOfFiles[ObjectIdentifier(declared.node)] ?? Self.componentName(of: declared.node)
                if !isMapped.contains(name) { tags[index] = [name] }
            }
            union.cases[index].tags = tags[index]
        }
        if let fallback = discriminator["defaultMapping"] {
            union.fallback = try index(of: fallback).map { union.cases[$0].name }
            if union.fallback == nil {
                warnings.add(fallback, "the schema of `defaultMapping` is not one of the alternatives")
            }
        }
        separateShared(&union, key, discriminator)
    }

    /// Finds a way to distinguish alternatives that have the same value of the tag.
    ///
    /// They may differ in another member or in their required members. Otherwise the value is kept as JSON.
    private func separateShared(_ union: inout Union, _ key: String, _ discriminator: Node) {
        for arm in union.arms where arm.cases.count > 1 {
            if let second = impliedTag(union, arm.cases, besides: key) {
                union.secondTags[arm.cases] = second
                continue
            }
            let required = Set(arm.cases.map { Set(union.cases[$0].required) })
            if required.count == arm.cases.count { continue }
            let list = arm.values.map(quoted).joined(separator: ", ")
            warnings.add(
                discriminator,
                "the alternatives with the tag \(list) cannot be told apart; their values become `other`, as JSON"
            )
            for index in arm.cases { union.cases[index].tags.removeAll { arm.values.contains($0) } }
            for index in arm.cases where union.cases[index].tags.isEmpty { union.cases[index].isUnreadable = true }
        }
    }

    /// The possible values of an object's member, if the schema lists them.
    private func values(of key: String, in type: TypeUse) -> [String] {
        guard case .declared(let declared) = type,
            let property = declared.structure?.properties.first(where: { $0.key == key })
        else { return [] }
        return property.values
    }

    /// A member whose values differ in all objects.
    private func impliedTag(_ union: Union, _ objects: [Int], besides known: String? = nil) -> String? {
        guard case .declared(let first) = union.cases[objects[0]].type, let structure = first.structure else {
            return nil
        }
        return structure.properties.map(\.key).first { key in
            if key == known { return false }
            var seen: Set<String> = []
            return objects.allSatisfy { index in
                let values = values(of: key, in: union.cases[index].type)
                return !values.isEmpty && union.cases[index].required.contains(key)
                    && values.allSatisfy { seen.insert($0).inserted }
            }
        }
    }

    /// The reason why a value of the union could match another case; nil if it cannot.
    private func ambiguity(in union: Union) -> String? {
        let untagged = union.cases.filter { $0.tags.isEmpty && !$0.isUnreadable && !isPlain($0.type) }
        let sets = untagged.map { Set($0.required) }
        for (index, set) in sets.enumerated() {
            if sets[..<index].contains(set) { return "no required member distinguishes two alternatives" }
        }
        let arrays = union.cases.filter { $0.type.code.hasPrefix("[") && !$0.type.code.hasPrefix("[String:") }
        let kinds = arrays.map { array in
            if case .array(let element) = array.type, isPlain(element.type) { element.type.code } else { "object" }
        }
        if Set(kinds).count < kinds.count { return "two alternatives are arrays of objects" }
        return nil
    }
}
