// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Decides which routers and functions are generated, and which types they use.
struct Planner {
    let schemas: SchemaReader
    let specification: SpecificationReader
    let configuration: Configuration
    let apiName: String

    private var routers: [RouterPlan] = []
    private var routersByTag: [String: RouterPlan] = [:]
    /// Files are named after routers, so names that differ only in case are equal.
    private var typeNames = NameSet(ignoringCase: true)

    init(_ schemas: SchemaReader, _ specification: SpecificationReader, _ configuration: Configuration, apiName: String)
    {
        self.schemas = schemas
        self.specification = specification
        self.configuration = configuration
        self.apiName = apiName
    }

    var warnings: Warnings { schemas.warnings }

    /// The routers for operations, in the order of the document.
    mutating func plan(
        _ operations: [Operation],
        _ onProgress: (Stage) -> Void
    ) throws(DocumentError) -> [RouterPlan] {
        for (index, operation) in operations.enumerated() {
            onProgress(.operation(index + 1, of: operations.count))
            do throws(DocumentError) {
                try add(operation, to: router(of: operation))
            } catch {
                // An error in an operation that is not selected does not prevent the generation of the others.
                if configuration.selects(operation) { throw error }
            }
        }
        for router in routers { makeFailure(of: router) }
        return routers
    }

    private mutating func router(of operation: Operation) -> RouterPlan {
        let tag = configuration.routers == .single ? "" : operation.tags.first ?? ""
        if let known = routersByTag[tag] { return known }
        // The name is also a file's name, which has at most 255 bytes.
        var name = tag.isEmpty ? apiName : String(Identifier.type(tag).prefix(60))
        name = typeNames.unique(Self.routerName(name))
        let description = specification.root["tags"]?.elements.first { $0["name"]?.string == tag }?["description"]
        let documentation =
            PlainText.firstSentence(description?.string)
            ?? (tag.isEmpty ? "The operations of \(apiName)." : "The operations with the tag \(PlainText.line(tag)).")
        let router = RouterPlan(name: name, tag: tag, documentation: documentation)
        routersByTag[tag] = router
        routers.append(router)
        return router
    }

    /// A type name that no library uses.
    private static func routerName(_ name: String) -> String {
        let wanted = name + "Router"
        let isTaken = ReservedNames.support.contains(wanted) || ReservedNames.types.contains(wanted)
        return isTaken ? name + "TagRouter" : wanted
    }

    // MARK: - Functions

    private func add(_ operation: Operation, to router: RouterPlan) throws(DocumentError) {
        let base = Identifier.type(operation.wantedName)
        let name = functionName(of: operation)
        let parameters = try arguments(of: operation, base, router)
        var bodies = try bodyArguments(of: operation, base, router)
        if bodies.isEmpty { bodies = [nil] }
        let values = try values(of: operation, base, router)
        try addFailures(of: operation, base, router)
        for (index, value) in values.enumerated() {
            let suffix = index == 0 ? "" : value.isStream ? "Stream" : value.isRaw ? "Data" : "\(index + 1)"
            let unique = router.functionNames.unique(name + suffix)
            for body in bodies {
                var arguments = parameters
                if let body {
                    let last = arguments.lastIndex { !$0.isOptional }.map { $0 + 1 } ?? 0
                    arguments.insert(body, at: body.isOptional ? arguments.count : last)
                }
                router.functions.append(
                    FunctionPlan(
                        name: unique,
                        operation: operation,
                        value: value.value,
                        isStream: value.isStream,
                        arguments: Self.uniquelyNamed(arguments),
                        accept: value.accept
                    )
                )
            }
        }
    }

    private func functionName(of operation: Operation) -> String {
        let id = operation.wantedName
        if let renamed = configuration.renames[id] { return Identifier.member(renamed) }
        var words = Identifier.words(of: id)
        let tag = operation.tags.first.map(Identifier.words) ?? []
        let isPrefixed =
            words.count > tag.count && zip(words, tag).allSatisfy { $0.lowercased() == $1.lowercased() }
        if configuration.routers == .tag, !tag.isEmpty, isPrefixed { words.removeFirst(tag.count) }
        return Identifier.member(words.joined(separator: " "))
    }

    private static func uniquelyNamed(_ arguments: [FunctionPlan.Argument]) -> [FunctionPlan.Argument] {
        var names: NameSet = []
        return arguments.map { argument in
            FunctionPlan.Argument(
                name: names.unique(argument.name),
                type: argument.type,
                isOptional: argument.isOptional,
                documentation: argument.documentation,
                location: argument.location
            )
        }
    }

    private func arguments(
        of operation: Operation,
        _ base: String,
        _ router: RouterPlan
    ) throws(DocumentError) -> [FunctionPlan.Argument] {
        var arguments: [FunctionPlan.Argument] = []
        for parameter in operation.parameters {
            var type = parameter.isJSON ? TypeUse.json : .string
            if let schema = parameter.schema {
                let place = place(of: schema, base, Identifier.type(parameter.name), router)
                let found = try schemas.type(of: schema, at: place)
                type = found.type
                if found.isNullable, !type.isJSON, parameter.isRequired {
                    warnings.add(schema, "a parameter cannot be null; the caller has to pass a value")
                }
            }
            if type.isListOfObjects, !parameter.isJSON {
                warnings.add(
                    parameter.node,
                    "the specification does not define how a list of objects is sent; each object is sent as JSON"
                )
            }
            arguments.append(
                FunctionPlan.Argument(
                    name: Identifier.member(parameter.name),
                    type: type,
                    isOptional: !parameter.isRequired,
                    documentation: parameter.isDeprecated
                        ? "Deprecated" + (parameter.documentation.map { ": " + $0 } ?? ".") : parameter.documentation,
                    location: .parameter(parameter)
                )
            )
        }
        return arguments.filter { !$0.isOptional } + arguments.filter(\.isOptional)
    }

    /// The place of an inline type.
    ///
    /// The type has the name of the component that contains the schema. So it does not depend on the operations that use
    /// the component. Otherwise it has the name of the operation.
    func place(of schema: Node, _ base: String, _ suffix: String, _ router: RouterPlan) -> SchemaReader.Place {
        guard let component = Self.component(around: schema), let section = component.parent?.key else {
            return .top(base + suffix, owner: router.name)
        }
        let name = Identifier.type(component.key)
        return .top(section == "parameters" || name.hasSuffix(suffix) ? name : name + suffix, owner: nil)
    }

    /// The parameter, response or request body of `components` that contains a node; nil if there is none.
    private static func component(around node: Node) -> Node? {
        var node = node
        while let section = node.parent, let components = section.parent {
            let isShared = ["parameters", "responses", "requestBodies"].contains(section.key)
            if isShared, components.key == "components", components.parent?.parent == nil { return node }
            node = section
        }
        return nil
    }

    /// One argument per format of the body.
    private func bodyArguments(
        of operation: Operation,
        _ base: String,
        _ router: RouterPlan
    ) throws(DocumentError) -> [FunctionPlan.Argument?] {
        guard let body = operation.body else { return [] }
        var arguments: [FunctionPlan.Argument] = []
        let order: [ContentKind] = [.json, .multipart, .form, .lines, .sequence, .binary, .text, .events]
        var kinds: Set<ContentKind> = []
        for kind in order {
            for content in body.contents where content.kind == kind {
                let isOther = kinds.contains(.json) && (kind == .form || kind == .text || kind == .binary)
                // If there are several media types, the caller's body specifies its own.
                if kind == .binary, !isOther, kinds.contains(.binary) { continue }
                guard !isOther, kinds.insert(kind).inserted else {
                    warnings.add(content.node, "the body can also be \(content.mediaType), which is not generated")
                    continue
                }
                let (name, type) = try bodyType(content, base, router)
                var documentation = PlainText.firstSentence(body.node["description"]?.string)
                var mediaType = content.mediaType
                let types = kind == .binary ? body.contents.filter { $0.kind == .binary }.map(\.mediaType) : []
                if types.count > 1 {
                    mediaType = "*/*"
                    let list = types.map { "`\(PlainText.line($0))`" }.joined(separator: " or ")
                    documentation = (documentation.map { $0 + " " } ?? "") + "Its media type is \(list)."
                }
                warnOfEncoding(content)
                arguments.append(
                    FunctionPlan.Argument(
                        name: name,
                        type: type,
                        // Without arguments, two functions with an optional body could not be told apart.
                        isOptional: !body.isRequired && arguments.isEmpty,
                        documentation: documentation,
                        location: .body(kind, mediaType: mediaType)
                    )
                )
            }
        }
        return arguments
    }

    private func bodyType(
        _ content: Content,
        _ base: String,
        _ router: RouterPlan
    ) throws(DocumentError) -> (String, TypeUse) {
        switch content.kind {
        case .json, .form:
            guard let schema = content.schema else { return ("body", .json) }
            let type = try bodyType(schema, base, "Body", router)
            let isPatch = ContentKind.isMergePatch(content.mediaType)
            return ("body", isPatch ? schemas.mergePatch(of: type, for: router) : type)
        case .multipart:
            guard let schema = content.schema else {
                warnings.add(content.node, "a form without a schema has no fields")
                return ("form", .json)
            }
            let isForm = content.mediaType.lowercased().hasPrefix("multipart/form-data")
            if !isForm {
                warnings.add(
                    content.node,
                    "\(quoted(content.mediaType)) is not supported; it is sent as multipart/form-data"
                )
            }
            let type = try bodyType(schema, base, "Form", router)
            if case .declared(let declared) = type, let structure = declared.structure {
                return ("form", .declared(form(content, structure, declared, base, router)))
            }
            warnings.add(content.node, "the form is not an object with members; the caller passes its parts")
            return ("form", .json)
        case .text, .binary, .events, .lines, .sequence:
            try warnOfUnusedSchema(content)
            return (Self.argumentName(content.kind), content.kind == .text ? .string : .binary)
        }
    }

    private func bodyType(
        _ schema: Node,
        _ base: String,
        _ suffix: String,
        _ router: RouterPlan
    ) throws(DocumentError) -> TypeUse {
        let found = try schemas.type(of: schema, at: place(of: schema, base, suffix, router))
        if found.isNullable, !found.type.isJSON {
            warnings.add(schema, "a body cannot be null; it has a value, or is left out if it is optional")
        }
        return found.type
    }

    private static func argumentName(_ kind: ContentKind) -> String {
        switch kind {
        case .text: "text"
        case .events: "events"
        case .lines: "lines"
        case .sequence: "sequence"
        default: "file"
        }
    }

    /// Warns of a schema with members or elements if the caller writes or reads the body, as for XML.
    func warnOfUnusedSchema(_ content: Content) throws(DocumentError) {
        guard let schema = content.schema else { return }
        let target = try specification.documents.resolved(schema)
        let isStructured =
            schemas.types(of: target).contains { ["object", "array"].contains($0) }
            || ["properties", "items", "allOf", "oneOf", "anyOf"].contains { target[$0] != nil }
        guard isStructured else { return }
        let form = content.kind == .text ? "a text" : "bytes"
        warnings.add(schema, "the schema of \(content.mediaType) is not used; the value is \(form)")
    }

    /// The form, with the media types of its parts.
    ///
    /// It gets its own type if other bodies share its schema.
    private func form(
        _ content: Content,
        _ structure: Structure,
        _ declared: Declaration,
        _ base: String,
        _ router: RouterPlan
    ) -> Declaration {
        if let known = schemas.forms[ObjectIdentifier(content.node)] { return known }
        var structure = structure
        var isChanged = false
        for encoding in content.node["encoding"]?.members ?? [] {
            guard let index = structure.properties.firstIndex(where: { $0.key == encoding.key }) else {
                warnings.add(encoding.value, "the form has no member \(quoted(encoding.key)); it is ignored")
                continue
            }
            if let type = encoding.value["contentType"] {
                set(type, of: &structure.properties[index])
                isChanged = true
            }
            for key in ["headers", "style", "explode", "allowReserved", "encoding"] {
                guard let value = encoding.value[key] else { continue }
                warnings.add(value, "`\(key)` of a part is not supported; it is ignored")
            }
        }
        guard isChanged else { return declared }
        if declared.node === content.schema {
            declared.kind = .structure(structure)
            schemas.forms[ObjectIdentifier(content.node)] = declared
            return declared
        }
        guard case .top(let name, let owner) = place(of: content.node, base, "Form", router) else { return declared }
        let own = Declaration(declared.node, named: name, in: nil)
        own.owner = owner
        own.isCopy = true
        own.kind = .structure(structure)
        schemas.add(own)
        schemas.forms[ObjectIdentifier(content.node)] = own
        return own
    }

    /// Sets the media type of a part from `contentType`, which can list several types and ranges of types.
    private func set(_ contentType: Node, of property: inout Property) {
        let list = contentType.string ?? ""
        let types = list.split(separator: ",").map { String($0.drop { $0 == " " }) }
        let hasFiles = property.type.type.isBinary || property.type.type.alternatives?.hasFiles == true
        if types.count == 1, !list.contains("*") {
            property.partMediaType = types[0]
        } else if hasFiles {
            // The caller's file specifies its own media type.
            let names = types.map { "`\(PlainText.line($0))`" }.joined(separator: " or ")
            let sentence = "Its media type is \(names)."
            property.documentation = property.documentation.map { $0 + " " + sentence } ?? sentence
        } else {
            property.partMediaType = types.first { !$0.contains("*") }
            let sentence = property.partMediaType.map { "is always sent as \($0)" } ?? "has its usual media type"
            warnings.add(contentType, "the caller cannot choose the media type of this part; it \(sentence)")
        }
        if !hasFiles, let mediaType = property.partMediaType, ContentKind(mediaType) != .json {
            writeByCaller(contentType, mediaType, &property)
        }
    }

    /// Lets the caller write a part that is neither text nor JSON, such as XML, as a file.
    private func writeByCaller(_ contentType: Node, _ mediaType: String, _ property: inout Property) {
        var element = property.type.type
        var isArray = false
        if case .array(let inner) = element {
            element = inner.type
            isArray = true
        }
        let alternatives = element.alternatives?.union?.cases.map(\.type) ?? [element]
        if alternatives.allSatisfy(\.isText) { return }
        property.type.type = isArray ? .array(OptionalType(type: .binary)) : .binary
        if !element.isJSON {
            warnings.add(contentType, "the schema of this part is not used; the caller writes its \(mediaType)")
        }
    }

    /// Gives a form its own type if its schema is also used as JSON, where a file is a string and null differs from a
    /// missing member.
    ///
    /// - Returns: Whether there was such a form. If so, the usage of all types must be marked again.
    func separateForms(of routers: [RouterPlan]) -> Bool {
        var isChanged = false
        for router in routers {
            // The functions of an operation share its form.
            var forms: [String: Declaration] = [:]
            for (index, function) in router.functions.enumerated() {
                for (position, argument) in function.arguments.enumerated() {
                    guard case .body(.multipart, _) = argument.location, case .declared(let declared) = argument.type,
                        let structure = declared.structure, differsFromJSON(structure, declared.usage)
                    else { continue }
                    let operation = function.operation
                    let own = forms[operation.title] ?? ownForm(of: operation, declared.node, structure, router)
                    forms[operation.title] = own
                    router.functions[index].arguments[position].type = .declared(own)
                    isChanged = true
                }
            }
        }
        return isChanged
    }

    private func ownForm(
        of operation: Operation,
        _ node: Node,
        _ structure: Structure,
        _ router: RouterPlan
    ) -> Declaration {
        let base = Identifier.type(operation.wantedName)
        let own = Declaration(node, named: base + "Form", in: nil)
        own.owner = router.name
        own.isCopy = true
        schemas.add(own)
        own.kind = .structure(withOwnAlternatives(structure, own))
        return own
    }

    private func differsFromJSON(_ structure: Structure, _ usage: Usage) -> Bool {
        let types = structure.properties.map(\.type) + [structure.additional].compactMap(\.self)
        let hasSharedFiles = types.compactMap(\.type.alternatives).contains { $0.hasFiles && $0.usage != .form }
        return hasSharedFiles || (usage != .form && types.contains { $0.isNullable || $0.type.isBinary })
    }

    /// The structure with its own types of alternatives with files.
    private func withOwnAlternatives(_ structure: Structure, _ form: Declaration) -> Structure {
        func own(_ type: TypeUse) -> TypeUse {
            guard let alternatives = type.alternatives, alternatives.hasFiles else { return type }
            let copy = Declaration(alternatives.node, named: alternatives.wantedName, in: form)
            copy.isCopy = true
            copy.kind = alternatives.kind
            schemas.add(copy)
            if case .array = type { return .array(OptionalType(type: .declared(copy))) }
            return .declared(copy)
        }
        var structure = structure
        for index in structure.properties.indices {
            structure.properties[index].type.type = own(structure.properties[index].type.type)
        }
        if let additional = structure.additional { structure.additional?.type = own(additional.type) }
        return structure
    }

    /// Warns of an `encoding` for a body without parts.
    private func warnOfEncoding(_ content: Content) {
        for key in ["itemEncoding", "prefixEncoding"] {
            if let value = content.node[key] { warnings.add(value, "`\(key)` is not supported; it is ignored") }
        }
        guard content.kind != .multipart, let encoding = content.node["encoding"] else { return }
        let isForm = content.kind == .form
        let sentence =
            isForm ? "`encoding` of a form is not supported" : "`encoding` has no meaning for this media type"
        warnings.add(encoding, sentence + "; it is ignored")
    }
}
