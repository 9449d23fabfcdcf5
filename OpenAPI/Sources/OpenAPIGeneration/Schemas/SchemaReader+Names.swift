// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// Decides which declarations are generated, whether they are sent or received, and their names.

extension SchemaReader {
    /// Marks a type and the types in it as sent or received.
    func mark(_ type: TypeUse, _ usage: Usage) {
        for declaration in type.declarations { mark(declaration, usage) }
    }

    private func mark(_ declaration: Declaration, _ usage: Usage) {
        guard !declaration.isOpaque, !declaration.usage.isSuperset(of: usage) else { return }
        declaration.usage.formUnion(usage)
        let inner = declaration.usage.inner
        switch declaration.kind {
        case .structure(let structure):
            for property in structure.properties where !property.isLeftOut(inner) {
                mark(property.type.type, usage == .form && property.isFormValue ? .form : inner)
            }
            if let additional = structure.additional?.type {
                mark(additional, usage == .form && additional.alternatives != nil ? .form : inner)
            }
        case .union(let union):
            for variant in union.cases {
                mark(variant.type, usage == .form && variant.type.alternatives != nil ? .form : inner)
            }
        case .wrapper(let type): mark(type.type, inner)
        case .pending, .enumeration, .opaque: break
        }
        if let parent = declaration.parent, parent.usage.isEmpty { mark(parent, inner) }
    }

    /// Omits all declarations that these types do not need.
    ///
    /// - Returns: The JSON pointers of the schemas of the other declarations.
    func keep(only types: [TypeUse]) -> Set<String> {
        var kept: Set<ObjectIdentifier> = []
        var stack = types.flatMap(\.declarations)
        while let declaration = stack.popLast() {
            guard kept.insert(ObjectIdentifier(declaration)).inserted else { continue }
            if let structure = declaration.structure {
                let properties = structure.properties.filter { !$0.isLeftOut(declaration.usage.inner) }
                stack += properties.flatMap(\.type.type.declarations)
                stack += structure.additional?.type.declarations ?? []
            } else {
                stack += declaration.parts
            }
            // A nested type is written within its parent.
            if let parent = declaration.parent { stack.append(parent) }
        }
        for declaration in declarations where !kept.contains(ObjectIdentifier(declaration)) {
            declaration.isOmitted = true
        }
        return Set(declarations.filter { kept.contains(ObjectIdentifier($0)) }.map(\.node.pointer))
    }

    /// Gives every declaration its name.
    ///
    /// Components come first, in the order of the document.
    func assignNames(taken: Set<String>, prefix: String, components: [Node], renames: [String: String]) {
        let top = declarations.filter { $0.parent == nil }
        var byNode: [ObjectIdentifier: Declaration] = [:]
        // A form may have its own type for the same schema. That type has an owner.
        for declaration in top where declaration.owner == nil {
            byNode[ObjectIdentifier(declaration.node)] = declaration
        }
        var names = NameSet(besides: taken)
        func name(_ key: String, _ wanted: String) -> String {
            names.unique(Self.allowed(renames[key] ?? prefix + wanted, "Model"))
        }
        var named: Set<ObjectIdentifier> = []
        for node in components {
            // Declarations that are not generated also get names, so that the other names do not depend on the
            // selection.
            let found = name(node.key, Identifier.type(node.key))
            guard let declaration = byNode[ObjectIdentifier(node)] ?? fileDeclaration(of: node, byNode) else {
                continue
            }
            declaration.name = found
            named.insert(ObjectIdentifier(declaration))
        }
        for declaration in top where !named.contains(ObjectIdentifier(declaration)) {
            // A rename of a schema does not apply to its copies.
            declaration.name = name(declaration.isCopy ? "" : declaration.node.key, declaration.wantedName)
        }
        let all = names.all
        for declaration in top { nameNested(in: declaration, around: [], all) }
    }

    /// The declaration of a component that is only a reference to another file.
    private func fileDeclaration(of node: Node, _ byNode: [ObjectIdentifier: Declaration]) -> Declaration? {
        guard node["$ref"] != nil, let target = try? documents.resolved(node) else { return nil }
        let id = ObjectIdentifier(target)
        return namesOfFiles[id] == node.key ? byNode[id] : nil
    }

    private static func allowed(_ name: String, _ suffix: String) -> String {
        ReservedNames.types.contains(name) ? name + suffix : name
    }

    private func nameNested(in declaration: Declaration, around: Set<String>, _ top: Set<String>) {
        if declaration.nested.isEmpty { return }
        var names = NameSet(besides: top)
        for name in around.union(["CodingKeys", "AdditionalKeys", declaration.shortName]) { names.insert(name) }
        // In a script without case, a member can have the same name as its type.
        for property in declaration.structure?.properties ?? [] { names.insert(property.name) }
        for variant in declaration.union?.cases ?? [] { names.insert(variant.name) }
        var own = around.union([declaration.shortName])
        for nested in declaration.nested {
            let isKind = nested.wantedName == "Type" && !names.contains("Kind")
            let wanted = isKind ? "Kind" : Self.allowed(nested.wantedName, "Value")
            var short = wanted
            if names.contains(short) { short += "Value" }
            short = names.unique(short)
            own.insert(short)
            nested.name = declaration.name + "." + short
        }
        for nested in declaration.nested { nameNested(in: nested, around: own, top) }
    }
}
