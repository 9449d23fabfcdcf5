// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// What is decided once every schema is read: how alternatives are told apart, names, and what contains itself.

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
        // From the inside out: what is told apart by the members of others needs those first.
        for declaration in declarations where declaration.union != nil { try tellApart(declaration) }
        breakCycles()
    }

    /// Gives up alternatives that are read and cannot be told apart; those that are only sent need not be.
    ///
    /// - Returns: Whether there were any.
    func giveUpAmbiguous() -> Bool {
        var isChanged = false
        for declaration in declarations where declaration.usage.contains(.response) {
            guard let problem = declaration.union?.ambiguity else { continue }
            warnings.add(declaration.node, "\(problem), so the alternatives become JSONValue")
            declaration.kind = .opaque
            isChanged = true
        }
        if isChanged {
            for declaration in declarations { declaration.usage = [] }
        }
        return isChanged
    }

    /// The type that a schema was found to be.
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
            // Failures are tried in order: the one with the most required members first, any JSON last.
            let order = union.cases.indices.sorted { left, right in
                func rank(_ index: Int) -> Int {
                    union.cases[index].type.isJSON ? 1 : -union.cases[index].required.count
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

    /// Whether JSON itself tells the type from an object.
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
        for mapping in discriminator["mapping"]?.members ?? [] {
            guard let reference = mapping.value.string else { continue }
            let isName = !reference.contains("/") && !reference.contains(".")
            let path = isName ? "#/components/schemas/\(reference)" : reference
            let target = try documents.resolved(documents.target(of: path, at: mapping.value))
            let named = declaration(of: target)
            let index = union.cases.firstIndex {
                if case .declared(let declared) = $0.type { declared === named } else { false }
            }
            if let index, !tags[index].contains(mapping.key) { tags[index].append(mapping.key) }
            if index == nil { warnings.add(mapping.value, "no alternative is the schema that this tag names") }
        }
        var used: Set<String> = []
        for index in union.cases.indices {
            var own = tags[index]
            if own.isEmpty, case .declared(let declared) = union.cases[index].type {
                own = [Self.componentName(of: declared.node)]
            }
            union.cases[index].tags = own.filter { used.insert($0).inserted }
        }
    }

    /// The values that a member of an object can have, where the schema lists them.
    private func values(of key: String, in type: TypeUse) -> [String] {
        guard case .declared(let declared) = type,
            let property = declared.structure?.properties.first(where: { $0.key == key })
        else { return [] }
        return property.values
    }

    /// A member whose values differ in all objects.
    private func impliedTag(_ union: Union, _ objects: [Int]) -> String? {
        guard case .declared(let first) = union.cases[objects[0]].type, let structure = first.structure else {
            return nil
        }
        return structure.properties.map(\.key).first { key in
            var seen: Set<String> = []
            return objects.allSatisfy { index in
                let values = values(of: key, in: union.cases[index].type)
                return !values.isEmpty && union.cases[index].required.contains(key)
                    && values.allSatisfy { seen.insert($0).inserted }
            }
        }
    }

    /// Why a value of the union could be taken for another case; nil where it cannot.
    private func ambiguity(in union: Union) -> String? {
        let untagged = union.cases.filter { $0.tags.isEmpty && !isPlain($0.type) }
        let sets = untagged.map { Set($0.required) }
        for (index, set) in sets.enumerated() {
            if sets[..<index].contains(set) { return "no required member tells two alternatives apart" }
        }
        let arrays = union.cases.filter { $0.type.code.hasPrefix("[") && !$0.type.code.hasPrefix("[String:") }
        let kinds = arrays.map { array in
            if case .array(let element) = array.type, isPlain(element.type) { element.type.code } else { "object" }
        }
        if Set(kinds).count < kinds.count { return "two alternatives are arrays of objects" }
        return nil
    }

    // MARK: - Types that contain themselves

    private func breakCycles() {
        for declaration in declarations where declaration.union != nil && contains(itself: declaration) {
            declaration.isIndirect = true
        }
        for declaration in declarations {
            guard var structure = declaration.structure else { continue }
            for index in structure.properties.indices {
                guard case .declared(let direct) = structure.properties[index].type.type else { continue }
                if direct === declaration || reaches(direct, declaration) {
                    structure.properties[index].isBoxed = true
                }
            }
            declaration.kind = .structure(structure)
        }
    }

    private func contains(itself declaration: Declaration) -> Bool {
        direct(declaration).contains { $0 === declaration || reaches($0, declaration) }
    }

    /// The types that a value holds within itself; arrays and dictionaries hold theirs elsewhere.
    private func direct(_ declaration: Declaration) -> [Declaration] {
        let types: [TypeUse]
        switch declaration.kind {
        case .structure(let structure):
            types = structure.properties.filter { !$0.isBoxed }.map(\.type.type)
        case .union(let union): types = declaration.isIndirect ? [] : union.cases.map(\.type)
        case .wrapper(let type): types = [type.type]
        case .pending, .enumeration, .opaque: types = []
        }
        return types.compactMap { type in
            if case .declared(let declared) = type { declared } else { nil }
        }
    }

    private func reaches(_ from: Declaration, _ wanted: Declaration) -> Bool {
        var seen: Set<ObjectIdentifier> = [ObjectIdentifier(from)]
        var stack = [from]
        while let next = stack.popLast() {
            for inner in direct(next) {
                if inner === wanted { return true }
                if seen.insert(ObjectIdentifier(inner)).inserted { stack.append(inner) }
            }
        }
        return false
    }
}
