// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Decides on routers, functions and the types that they use.
struct Planner {
    let schemas: SchemaReader
    let specification: SpecificationReader
    let configuration: Configuration
    let apiName: String

    private var routers: [RouterPlan] = []
    private var routersByTag: [String: RouterPlan] = [:]
    private var typeNames: Set<String> = []

    init(_ schemas: SchemaReader, _ specification: SpecificationReader, _ configuration: Configuration, apiName: String)
    {
        self.schemas = schemas
        self.specification = specification
        self.configuration = configuration
        self.apiName = apiName
    }

    private var warnings: Warnings { schemas.warnings }

    /// The routers of some operations, in the order of the document.
    mutating func plan(_ operations: [Operation]) throws(DocumentError) -> [RouterPlan] {
        for operation in operations where configuration.selects(operation) {
            try add(operation, to: router(of: operation))
        }
        for router in routers { makeFailure(of: router) }
        return routers
    }

    private mutating func router(of operation: Operation) -> RouterPlan {
        let tag = configuration.routers == .single ? "" : operation.tags.first ?? ""
        if let known = routersByTag[tag] { return known }
        var name = tag.isEmpty ? apiName : Identifier.type(tag)
        name = SchemaReader.unique(name + "Router", in: &typeNames)
        let description = specification.root["tags"]?.elements.first { $0["name"]?.string == tag }?["description"]
        let documentation =
            PlainText.firstSentence(description?.string)
            ?? (tag.isEmpty ? "The operations of \(apiName)." : "The operations with the tag \(PlainText.line(tag)).")
        let router = RouterPlan(name: name, documentation: documentation)
        routersByTag[tag] = router
        routers.append(router)
        return router
    }

    // MARK: - Functions

    private func add(_ operation: Operation, to router: RouterPlan) throws(DocumentError) {
        let base = Identifier.type(operation.id ?? operation.method + " " + operation.path)
        let name = functionName(of: operation)
        let parameters = try arguments(of: operation, base, router)
        var bodies = try bodyArguments(of: operation, base, router)
        if bodies.isEmpty { bodies = [nil] }
        let values = try values(of: operation, base, router)
        try addFailures(of: operation, base, router)
        for (index, value) in values.enumerated() {
            let suffix = index == 0 ? "" : value.isStream ? "Stream" : value.isRaw ? "Data" : "\(index + 1)"
            let unique = SchemaReader.unique(name + suffix, in: &router.functionNames)
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
        let id = operation.id ?? operation.method + " " + operation.path
        if let renamed = configuration.renames[id] { return Identifier.member(renamed) }
        var words = Identifier.words(of: id)
        let tag = operation.tags.first.map(Identifier.words) ?? []
        let isPrefixed =
            words.count > tag.count && zip(words, tag).allSatisfy { $0.lowercased() == $1.lowercased() }
        if configuration.routers == .tag, !tag.isEmpty, isPrefixed { words.removeFirst(tag.count) }
        return Identifier.member(words.joined(separator: " "))
    }

    private static func uniquelyNamed(_ arguments: [FunctionPlan.Argument]) -> [FunctionPlan.Argument] {
        var names: Set<String> = []
        return arguments.map { argument in
            FunctionPlan.Argument(
                name: SchemaReader.unique(argument.name, in: &names),
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
            var type = TypeUse.string
            if let schema = parameter.schema {
                let name = base + Identifier.type(parameter.name)
                type = try schemas.type(of: schema, at: .top(name, owner: router.name)).type
            }
            arguments.append(
                FunctionPlan.Argument(
                    name: Identifier.member(parameter.name),
                    type: type,
                    isOptional: !parameter.isRequired,
                    documentation: parameter.documentation,
                    location: .parameter(parameter)
                )
            )
        }
        return arguments.filter { !$0.isOptional } + arguments.filter(\.isOptional)
    }

    /// One argument for each way to write the body.
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
                guard !isOther, kinds.insert(kind).inserted else {
                    warnings.add(content.node, "the body can be \(content.mediaType), too; that is not generated")
                    continue
                }
                let (name, type) = try bodyType(content, base, router)
                arguments.append(
                    FunctionPlan.Argument(
                        name: name,
                        type: type,
                        isOptional: !body.isRequired,
                        documentation: PlainText.firstSentence(body.node["description"]?.string),
                        location: .body(kind, mediaType: content.mediaType)
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
            return ("body", try schemas.type(of: schema, at: .top(base + "Body", owner: router.name)).type)
        case .multipart:
            guard let schema = content.schema else {
                warnings.add(content.node, "a form without a schema has no fields")
                return ("form", .json)
            }
            let type = try schemas.type(of: schema, at: .top(base + "Form", owner: router.name)).type
            if case .declared(let declared) = type, let structure = declared.structure {
                setPartTypes(content, structure, declared)
                return ("form", type)
            }
            warnings.add(content.node, "the form is not one object with members; its parts are given as they are")
            return ("form", .json)
        case .text: return ("text", .string)
        case .binary, .events, .lines, .sequence: return ("file", .binary)
        }
    }

    private func setPartTypes(_ content: Content, _ structure: Structure, _ declared: Declaration) {
        var structure = structure
        for encoding in content.node["encoding"]?.members ?? [] {
            guard let index = structure.properties.firstIndex(where: { $0.key == encoding.key }) else {
                warnings.add(encoding.value, "the form has no member \(quoted(encoding.key)); it is ignored")
                continue
            }
            if let type = encoding.value["contentType"]?.string, !type.contains(","), !type.contains("*") {
                structure.properties[index].partMediaType = type
            }
            if encoding.value["headers"] != nil {
                warnings.add(encoding.value, "header fields of a part are not supported")
            }
        }
        declared.kind = .structure(structure)
    }

    // MARK: - Responses

    private struct CallValue {
        var value: FunctionPlan.Value
        var isStream = false
        var accept: String?
        var isRaw: Bool {
            switch value {
            case .text, .bytes: true
            case .none, .value: false
            }
        }
    }

    private func values(
        of operation: Operation,
        _ base: String,
        _ router: RouterPlan
    ) throws(DocumentError) -> [CallValue] {
        var responses = operation.responses.filter(\.isSuccess)
        let hasRedirect = operation.responses.contains(where: \.isRedirect)
        if responses.isEmpty, !hasRedirect { responses = operation.responses.filter { $0.status == "default" } }
        if operation.method == "head" { return [CallValue(value: .none)] }
        var json: [OptionalType] = []
        var streams: [CallValue] = []
        var raw: CallValue?
        var accept: String?
        let isEmptyToo = responses.contains { $0.contents.isEmpty }
        for response in responses {
            var hasJSON = false
            for content in response.contents {
                switch content.kind {
                case .json:
                    if hasJSON {
                        warnings.add(content.node, "the response can be \(content.mediaType), too; that is not read")
                        continue
                    }
                    hasJSON = true
                    if json.isEmpty, !["application/json", "*/*"].contains(content.mediaType) {
                        accept = content.mediaType
                    }
                    let place = SchemaReader.Place.top(base + "Response", owner: router.name)
                    json.append(
                        try content.schema.map { (schema) throws(DocumentError) in
                            try schemas.type(of: schema, at: place)
                        } ?? OptionalType(type: .json)
                    )
                case .events, .lines, .sequence:
                    let place = SchemaReader.Place.top(base + "Event", owner: router.name)
                    let type =
                        try content.schema.map { (schema) throws(DocumentError) in
                            try schemas.type(of: schema, at: place)
                        } ?? OptionalType(type: .json)
                    streams.append(CallValue(value: .value(type), isStream: true))
                case .text: raw = raw ?? CallValue(value: .text, accept: content.mediaType)
                case .binary, .form, .multipart: raw = raw ?? CallValue(value: .bytes, accept: content.mediaType)
                }
            }
        }
        var values: [CallValue] = []
        if let type = oneType(json, base, router, operation) {
            var type = type
            if isEmptyToo { type.isNullable = true }
            values.append(CallValue(value: .value(type), accept: accept))
        }
        values += streams.prefix(1)
        if let raw { values.append(raw) }
        if values.isEmpty, responses.isEmpty, hasRedirect { return [CallValue(value: .bytes)] }
        return values.isEmpty ? [CallValue(value: .none)] : values
    }

    /// The type of all successful responses.
    private func oneType(
        _ types: [OptionalType],
        _ base: String,
        _ router: RouterPlan,
        _ operation: Operation
    ) -> OptionalType? {
        guard let first = types.first else { return nil }
        if types.count == 1 { return first }
        let declaration = Declaration(operation.node, named: base + "Result", in: nil)
        declaration.owner = router.name
        let type = schemas.union(types, hints: types.map(\.type.caseName), of: operation.node, into: declaration)
        if type.type.isDeclared(as: declaration) { schemas.add(declaration) }
        return type
    }

    private func addFailures(of operation: Operation, _ base: String, _ router: RouterPlan) throws(DocumentError) {
        let hasSuccess = operation.responses.contains { $0.isSuccess || $0.isRedirect }
        for response in operation.responses where !response.isSuccess && !response.isRedirect {
            if response.status == "default", !hasSuccess { continue }
            for content in response.contents where content.kind == .json {
                guard let schema = content.schema else { continue }
                let place = SchemaReader.Place.top(base + "Failure", owner: router.name)
                router.failures.append(try schemas.type(of: schema, at: place).type)
                break
            }
        }
    }

    private func makeFailure(of router: RouterPlan) {
        guard !router.failures.isEmpty else { return }
        let name = router.name.hasSuffix("Router") ? String(router.name.dropLast(6)) : router.name
        let declaration = Declaration(specification.root, named: name + "Failure", in: nil)
        declaration.owner = router.name
        declaration.documentation = "An error that the backend reports."
        let closed = schemas.failure(of: router.failures, into: declaration)
        router.failure = closed
    }
}
