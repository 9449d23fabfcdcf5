// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// Enumerations and alternatives.

extension SchemaReader {
    /// The type of `oneOf` or `anyOf`.
    func union(of nodes: [Node], of node: Node, into declaration: Declaration) throws(DocumentError) -> OptionalType {
        var isNullable = false
        var variants: [(node: Node, target: Node)] = []
        try flatten(nodes, &variants, &isNullable)
        if variants.count == 1, let only = variants.first {
            let place: Place =
                declaration.parent.map { .nested($0, declaration.wantedName) }
                ?? .top(declaration.wantedName, owner: declaration.owner)
            var type = try type(of: only.node, at: place)
            if isNullable { type.isNullable = true }
            return type
        }
        let targets = variants.map(\.target)
        if targets.allSatisfy(isText) || targets.allSatisfy(isInteger) {
            var type: OptionalType
            if targets.contains(where: { $0["enum"] != nil || $0["const"] != nil }) {
                type = enumeration(targets, of: node, into: declaration)
            } else {
                let scalars = try targets.map { (target) throws(DocumentError) in
                    try self.type(of: target, at: .nested(declaration, "Value")).type
                }
                let isSame = Set(scalars.map(\.code)).count == 1
                type = OptionalType(type: isSame ? scalars[0] : targets.allSatisfy(isText) ? .string : .int64)
            }
            if isNullable { type.isNullable = true }
            return type
        }
        var cases: [OptionalType] = []
        var hints: [String] = []
        for (index, variant) in variants.enumerated() {
            let hint = title(of: variant.node, variant.target) ?? tagValue(of: variant.target) ?? "Option\(index + 1)"
            let place: Place = .nested(declaration, hint == declaration.wantedName ? "Option\(index + 1)" : hint)
            cases.append(try type(of: variant.node, at: place))
            hints.append(hint)
        }
        var type = union(cases, hints: hints, of: node, into: declaration)
        if isNullable { type.isNullable = true }
        return type
    }

    private func flatten(
        _ nodes: [Node],
        _ variants: inout [(node: Node, target: Node)],
        _ isNullable: inout Bool
    ) throws(DocumentError) {
        for node in nodes {
            let target = try documents.resolved(node)
            let isNull = types(of: target) == ["null"] || target["const"]?.isNull == true
            let isNullEnum = target["enum"].map { !$0.elements.isEmpty && $0.elements.allSatisfy(\.isNull) } ?? false
            if isNull || isNullEnum {
                isNullable = true
            } else if node["$ref"] == nil, !alternatives(of: target).isEmpty, target["properties"] == nil,
                target["allOf"] == nil, target["discriminator"] == nil
            {
                if self.isNullable(target) { isNullable = true }
                try flatten(alternatives(of: target), &variants, &isNullable)
            } else {
                variants.append((node, target))
            }
        }
    }

    private func isText(_ node: Node) -> Bool {
        let values = (node["enum"]?.elements ?? []) + (node["const"].map { [$0] } ?? [])
        let isText = types(of: node).filter { $0 != "null" } == ["string"]
        if !values.isEmpty { return values.allSatisfy { $0.string != nil || $0.isNull || isText } }
        return isText && node["format"]?.string != "binary"
    }

    private func isInteger(_ node: Node) -> Bool {
        let values = (node["enum"]?.elements ?? []) + (node["const"].map { [$0] } ?? [])
        if isText(node) { return false }
        if !values.isEmpty { return values.allSatisfy { $0.number.flatMap { Int64($0) } != nil || $0.isNull } }
        return types(of: node).filter { $0 != "null" } == ["integer"]
    }

    /// The value of the first member that can have only one value.
    private func tagValue(of node: Node) -> String? {
        for member in node["properties"]?.members ?? [] {
            if let only = member.value["const"]?.string { return only }
            let values = member.value["enum"]?.elements ?? []
            if values.count == 1, let only = values[0].string { return only }
        }
        return nil
    }

    /// The type for the listed values of some schemas: an open set of strings or of integers, or otherwise a type such
    /// as `Bool` or JSON.
    func enumeration(_ nodes: [Node], of node: Node, into declaration: Declaration) -> OptionalType {
        var values: [(node: Node, title: String?, documentation: String?)] = []
        for node in nodes {
            if let only = node["const"] {
                values.append((only, node["title"]?.string, node["description"]?.string))
            }
            for value in node["enum"]?.elements ?? [] { values.append((value, nil, nil)) }
        }
        values.removeAll { $0.node.isNull }
        if values.isEmpty { return OptionalType(type: .json) }
        // YAML reads unquoted digits as a number, and an unquoted `true` as a Boolean, so the schema's type decides.
        let isText = !nodes.isEmpty && nodes.allSatisfy { types(of: $0).filter { $0 != "null" } == ["string"] }
        if !isText, values.allSatisfy({ $0.node.bool != nil }) { return OptionalType(type: .bool) }
        let isInteger = !isText && values.allSatisfy { $0.node.number.flatMap { Int64($0) } != nil }
        guard isInteger || values.allSatisfy({ $0.node.string != nil || (isText && $0.node.scalarText != nil) }) else {
            if values.allSatisfy({ $0.node.number != nil }) {
                warnings.add(node, "the values of the enumeration are not 64-bit integers; the type is Double")
                return OptionalType(type: .double)
            }
            warnings.add(node, "the values of the enumeration have different types; the type is JSONValue")
            return OptionalType(type: .json)
        }
        var names: NameSet = ["rawValue", "hashValue", "description", "parameterText"]
        var literals: Set<String> = []
        var enumeration = Enumeration(isInteger: isInteger, values: [])
        for value in values {
            let text = value.node.scalarText ?? ""
            let literal = isInteger ? text : PlainText.literal(text)
            guard literals.insert(literal).inserted else { continue }
            let plain = isInteger ? "value " + text.replacing("-", with: "minus ") : text
            let name = Identifier.member(value.title ?? (text.isEmpty ? "empty" : plain))
            enumeration.values.append(
                Enumeration.Value(
                    literal: literal,
                    name: names.unique(name),
                    documentation: PlainText.firstSentence(value.documentation)
                )
            )
        }
        declaration.kind = .enumeration(enumeration)
        return OptionalType(type: .declared(declaration))
    }

    /// A union of several types.
    ///
    /// If there is only one type, or if one scalar type includes all others, the result is that type.
    func union(
        _ types: [OptionalType],
        hints: [String],
        of node: Node,
        into declaration: Declaration
    ) -> OptionalType {
        let isNullable = types.contains(where: \.isNullable)
        if types.contains(where: \.type.isJSON) { return OptionalType(type: .json, isNullable: isNullable) }
        var union = Union(cases: [])
        var codes: Set<String> = []
        let hasNumber = types.contains { $0.type.code == "Double" }
        let texts = types.filter { ["String", "DateTime", "Day", "UUID", "URL"].contains($0.type.code) }
        let isOneText = Set(texts.map(\.type.code)).count <= 1
        var names: NameSet = ["other"]
        for (type, hint) in zip(types, hints) {
            var use = type.type
            if hasNumber, ["Int", "Int32", "Int64", "UInt64"].contains(use.code) { use = .double }
            if !isOneText, ["String", "DateTime", "Day", "UUID", "URL"].contains(use.code) { use = .string }
            guard codes.insert(use.identity).inserted else { continue }
            var name = use.caseName
            if case .declared(let declared) = use, declared.parent === declaration { name = Identifier.member(hint) }
            union.cases.append(Union.Case(name: names.unique(name), type: use))
        }
        // With a discriminator, a later version of the backend may send other types.
        if union.cases.count == 1, node["discriminator"] == nil {
            return OptionalType(type: union.cases[0].type, isNullable: isNullable)
        }
        union.discriminator = node["discriminator"]
        declaration.kind = .union(union)
        return OptionalType(type: .declared(declaration), isNullable: isNullable)
    }
}

extension SchemaReader {
    /// The type of a router's errors: a single type, or a union whose types are tried in order.
    func failure(of types: [TypeUse], into declaration: Declaration) -> TypeUse {
        var seen: Set<String> = []
        let known = types.filter { seen.insert($0.identity).inserted }
        if known.count == 1 { return known[0] }
        var names: NameSet = []
        let cases = known.map { Union.Case(name: names.unique($0.caseName), type: $0) }
        declaration.kind = .union(Union(cases: cases, isOpen: false))
        let documentation = declaration.documentation
        add(declaration)
        declaration.documentation = documentation
        return .declared(declaration)
    }
}
