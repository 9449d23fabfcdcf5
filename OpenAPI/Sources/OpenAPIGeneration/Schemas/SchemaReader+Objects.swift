// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// Reads objects, and schemas that combine several schemas.

extension SchemaReader {
    /// Whether a schema says nothing about the type.
    static func isTrivial(_ node: Node) -> Bool {
        node["$ref"] == nil && !node.members.contains { structural.contains($0.key) }
    }

    /// The keywords that define a type.
    static let structural: Set<String> = [
        "type", "enum", "const", "oneOf", "anyOf", "allOf", "properties", "items", "additionalProperties",
    ]

    /// The alternatives of `oneOf` or `anyOf`; empty if none of them says anything about the type.
    func alternatives(of node: Node) -> [Node] {
        let list = node["oneOf"]?.elements ?? node["anyOf"]?.elements ?? []
        return list.allSatisfy(Self.isTrivial) ? [] : list
    }

    /// The members of one object.
    func objectParts(of node: Node, home: Declaration) throws(DocumentError) -> ObjectParts {
        var parts = ObjectParts()
        try collect(node, home, &parts)
        return parts
    }

    private func collect(_ node: Node, _ home: Declaration, _ parts: inout ObjectParts) throws(DocumentError) {
        // Some documents with many files have a reference instead of the members.
        var properties = node["properties"]
        if let found = properties, found["$ref"]?.string != nil { properties = try documents.resolved(found) }
        for member in properties?.members ?? [] {
            parts.isObject = true
            parts.put(ObjectParts.Member(key: member.key, node: member.value, home: home))
        }
        for key in node["required"]?.elements ?? [] {
            if let key = key.string { parts.require(key) }
        }
        if types(of: node).contains("object") { parts.isObject = true }
        if let additional = node["additionalProperties"], additional.bool != false {
            parts.isObject = true
            let name = Identifier.singular(home.wantedName) ?? "Value"
            parts.additional =
                additional.bool == true || additional.members.isEmpty
                ? OptionalType(type: .json)
                : try type(of: additional, at: place(name == home.wantedName ? "Value" : name, beside: home))
        }
    }

    /// The place of an inline type of `home`: beside `home`, because `home` itself might not be generated.
    private func place(_ name: String, beside home: Declaration) -> Place {
        if let parent = home.parent { return .nested(parent, name) }
        return .top(home.wantedName + "Value", owner: home.owner)
    }

    /// The type of an `allOf`, or of an object with alternatives.
    func merge(_ node: Node, into declaration: Declaration) throws(DocumentError) -> OptionalType {
        var parts = ObjectParts()
        var visited: Set<ObjectIdentifier> = []
        try collectAll(node, declaration, &parts, &visited)
        // A value of `allOf` must match every part, so null is allowed only if it matches every part.
        if parts.refusesNull, !isNullable(node) { parts.isNullable = false }
        if parts.unions.count > 1 {
            warnings.add(node, "more than one list of alternatives in allOf is not supported; the type is JSONValue")
            return OptionalType(type: .json, isNullable: parts.isNullable)
        }
        if let union = parts.unions.first {
            if parts.members.isEmpty, try all(union.alternatives, require: parts.required) {
                return try self.union(of: union.alternatives, of: union.node, into: declaration)
            }
            return try distribute(parts, over: union.alternatives, of: union.node, into: declaration)
        }
        if !parts.isObject || (parts.members.isEmpty && parts.additional == nil && !parts.others.isEmpty) {
            var type = parts.others.first { !$0.type.isJSON } ?? OptionalType(type: .json)
            if parts.others.count > 1, Set(parts.others.map(\.type.code)).count > 1 {
                warnings.add(node, "the parts of allOf have different types; the first one is used")
            }
            type.isNullable = parts.isNullable
            return type
        }
        if !parts.others.isEmpty {
            warnings.add(node, "a part of allOf is not an object and is left out")
        }
        return try finish(parts, into: declaration)
    }

    private func collectAll(
        _ node: Node,
        _ declaration: Declaration,
        _ parts: inout ObjectParts,
        _ visited: inout Set<ObjectIdentifier>
    ) throws(DocumentError) {
        guard visited.insert(ObjectIdentifier(node)).inserted else {
            throw DocumentError(at: node, "allOf contains itself, so it describes no type")
        }
        for part in node["allOf"]?.elements ?? [] {
            try collectPart(part, declaration, &parts, &visited)
        }
        guard parts.depth < 200 else {
            throw DocumentError(at: node, "allOf is nested in allOf more than 200 levels deep")
        }
        try collect(node, declaration, &parts)
        let alternatives = alternatives(of: node)
        if !alternatives.isEmpty { parts.unions.append((node, alternatives)) }
        if isNullable(node) {
            parts.isNullable = true
        } else if !types(of: node).isEmpty {
            parts.refusesNull = true
        }
        visited.remove(ObjectIdentifier(node))
    }

    private func collectPart(
        _ part: Node,
        _ declaration: Declaration,
        _ parts: inout ObjectParts,
        _ visited: inout Set<ObjectIdentifier>
    ) throws(DocumentError) {
        let target = try documents.resolved(part)
        let isReference = part["$ref"] != nil
        let hasObject =
            target["properties"] != nil || target["allOf"] != nil || types(of: target).contains("object")
            || target["additionalProperties"] != nil || !alternatives(of: target).isEmpty
        if !hasObject {
            for key in target["required"]?.elements ?? [] {
                if let key = key.string { parts.require(key) }
            }
            if isReference || !Self.isTrivial(target) {
                let name = Self.componentName(of: target)
                let place: Place =
                    isReference ? .top(name, owner: nil) : .nested(declaration, "Value")
                parts.others.append(try type(of: isReference ? part : target, at: place))
            }
            return
        }
        var home = declaration
        if isReference {
            // The part's own type is read first. The part's inline types are nested in it, whichever schema refers to
            // the part.
            let type = try type(of: part, at: .top(Self.componentName(of: target), owner: nil))
            if case .declared(let declared) = type.type { home = declared }
            // A part that is an enumeration is used unchanged.
            if case .declared(let declared) = type.type, declared.enumeration != nil {
                parts.others.append(type)
                return
            }
        }
        guard isReference else {
            warnOfKeywords(in: target)
            try collectAll(target, home, &parts, &visited)
            return
        }
        // Each schema is collected only once. Otherwise the work would double with each level of parts.
        let key = PartsKey(node: ObjectIdentifier(target), home: ObjectIdentifier(home))
        if let known = knownParts[key] {
            if visited.contains(ObjectIdentifier(target)) {
                throw DocumentError(at: target, "allOf contains itself, so it describes no type")
            }
            parts.add(known.parts)
            return
        }
        warnOfKeywords(in: target)
        var own = ObjectParts()
        try collectAll(target, home, &own, &visited)
        knownParts[key] = (home, own)
        parts.add(own)
    }

    /// The only part of an `allOf`, if it is a reference and no other keyword changes the type.
    func lonePart(of node: Node) throws(DocumentError) -> Node? {
        guard let parts = node["allOf"]?.elements, parts.count == 1, parts[0]["$ref"] != nil,
            !node.members.contains(where: { Self.shaping.contains($0.key) })
        else { return nil }
        let target = try documents.resolved(parts[0])
        // The base of a hierarchy becomes a union, but a schema that includes the base must become an object.
        return target["discriminator"] != nil && alternatives(of: target).isEmpty ? nil : parts[0]
    }

    /// The keywords that change the type of an `allOf` part.
    private static let shaping: Set<String> = [
        "enum", "const", "oneOf", "anyOf", "properties", "items", "additionalProperties", "required",
    ]

    /// Whether each alternative, except null, requires all members in `keys`.
    private func all(_ alternatives: [Node], require keys: [String]) throws(DocumentError) -> Bool {
        for alternative in alternatives {
            let target = try documents.resolved(alternative)
            let own = Set(target["required"]?.elements.compactMap(\.string) ?? [])
            let isNull = types(of: target) == ["null"]
            if !isNull, !own.isSuperset(of: keys) { return false }
        }
        return true
    }

    /// The type of alternatives that share members.
    ///
    /// Each alternative becomes its own object, with the shared members.
    private func distribute(
        _ parts: ObjectParts,
        over alternatives: [Node],
        of node: Node,
        into declaration: Declaration
    ) throws(DocumentError) -> OptionalType {
        var cases: [OptionalType] = []
        var hints: [String] = []
        var isNullable = parts.isNullable
        for (index, alternative) in alternatives.enumerated() {
            let target = try documents.resolved(alternative)
            if types(of: target) == ["null"] {
                isNullable = true
                continue
            }
            var own = parts
            own.unions = []
            var visited: Set<ObjectIdentifier> = []
            let name = title(of: alternative, target) ?? "Option\(index + 1)"
            let variant = Declaration(target, named: Identifier.type(name), in: declaration)
            try collectAll(target, variant, &own, &visited)
            guard own.unions.isEmpty, own.others.isEmpty else {
                warnings.add(node, "alternatives in alternatives next to properties are not supported: JSONValue")
                return OptionalType(type: .json)
            }
            own.isNullable = false
            let type = try finish(own, into: variant)
            if type.type.isDeclared(as: variant) { add(variant) }
            cases.append(type)
            hints.append(name)
        }
        var type = union(cases, hints: hints, of: node, into: declaration)
        if isNullable { type.isNullable = true }
        return type
    }

    /// The name that an alternative has in the document.
    func title(of node: Node, _ target: Node) -> String? {
        if node["$ref"] != nil { return Self.componentName(of: target) }
        if let title = target["title"]?.string, title.count < 40 { return title }
        return nil
    }

    /// The type of an object: a struct, or a dictionary if no member is named.
    func finish(_ parts: ObjectParts, into declaration: Declaration) throws(DocumentError) -> OptionalType {
        if parts.members.isEmpty {
            let value = parts.additional ?? OptionalType(type: .json)
            return OptionalType(type: .dictionary(value), isNullable: parts.isNullable)
        }
        try count(parts.members.count, of: declaration.node)
        var structure = Structure()
        structure.additional = parts.additional
        for member in parts.members {
            let node = member.node
            var type = try type(of: node, at: .nested(member.home, member.key))
            var target = node
            if node["$ref"] != nil { target = try documents.resolved(node) }
            // A member whose schema is a Boolean can be any JSON.
            if node.bool != nil { type = OptionalType(type: .json) }
            var property = Property(
                key: member.key,
                name: Identifier.member(member.key),
                type: type,
                isRequired: parts.isRequired(member.key)
            )
            let all = [node] + member.earlier
            property.isReadOnly =
                (node["readOnly"] ?? target["readOnly"])?.bool == true || all.contains { $0["readOnly"]?.bool == true }
            property.isWriteOnly =
                (node["writeOnly"] ?? target["writeOnly"])?.bool == true
                || all.contains { $0["writeOnly"]?.bool == true }
            property.isDeprecated = all.contains { $0["deprecated"]?.bool == true }
            property.documentation = Self.documentation(of: node, default: node["default"] ?? target["default"])
            property.values = Self.listedValues(of: target)
            property.node = node
            structure.properties.append(property)
        }
        let described = Set(parts.members.map(\.key))
        for key in parts.required where !described.contains(key) {
            // A required member that the schema does not describe has the type of `additionalProperties`, or any value.
            let type = parts.additional ?? OptionalType(type: .json)
            structure.properties.append(
                Property(key: key, name: Identifier.member(key), type: type, isRequired: true)
            )
        }
        Self.makeUnique(&structure.properties)
        declaration.kind = .structure(structure)
        return OptionalType(type: .declared(declaration), isNullable: parts.isNullable)
    }

    /// The first sentence of a description, and the backend's default value.
    static func documentation(of node: Node, default value: Node?) -> String? {
        let sentence = PlainText.firstSentence(node["description"]?.string)
        guard let text = value?.scalarText, !text.isEmpty, text.count < 40, !text.contains("`") else { return sentence }
        let note = "`\(PlainText.line(text))` by default."
        guard let sentence else { return note }
        return (sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence) + "; " + note
    }

    /// The values that a schema lists.
    static func listedValues(of node: Node) -> [String] {
        if let only = node["const"]?.scalarText { return [only] }
        return node["enum"]?.elements.compactMap(\.scalarText) ?? []
    }

    private static func makeUnique(_ properties: inout [Property]) {
        var names: NameSet = ["additionalProperties", "parts", "parameterText", "allCases"]
        for index in properties.indices { properties[index].name = names.unique(properties[index].name) }
    }
}
