// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import Foundation

/// Generates Swift code from a document.
public struct Generator {
    /// A file to write.
    public struct File: Sendable {
        /// The name.
        public let name: String
        /// The source.
        public let text: String
    }

    /// The result of a run.
    public struct Result: Sendable {
        /// The files in the order of their names.
        public let files: [File]
        /// The parts of the document that the generator changed or ignored.
        public let warnings: [Warning]
        /// The operations in the order of the document, each with its method, path and function.
        public let operations: [String]

        /// The number of operations that were generated.
        public let operationCount: Int
    }

    private let documents: DocumentSet
    private let configuration: Configuration
    private let onProgress: (Stage) -> Void

    /// Reads a document's first file.
    ///
    /// - Parameter onProgress: A function that is called with each stage of the run, possibly on another thread. By
    ///   default, it does nothing.
    /// - Throws: ``DocumentError`` for a document that cannot be read.
    public init(
        contentsOf url: URL,
        configuration: Configuration = Configuration(),
        limits: DocumentLimits = DocumentLimits(),
        onProgress: @escaping (Stage) -> Void = { _ in }
    ) throws(DocumentError) {
        documents = try DocumentSet(contentsOf: url, limits: limits, onProgress: onProgress)
        self.onProgress = onProgress
        self.configuration = configuration
    }

    /// Reads a document of one file from memory.
    ///
    /// - Throws: ``DocumentError`` for a document that cannot be read.
    public init(
        _ data: Data,
        named name: String = "document.json",
        configuration: Configuration = Configuration(),
        limits: DocumentLimits = DocumentLimits()
    ) throws(DocumentError) {
        documents = try DocumentSet(data, named: name, limits: limits)
        onProgress = { _ in }
        self.configuration = configuration
    }

    /// The contents of the document, with the chosen names.
    private struct Plan {
        let warnings: Warnings
        let specification: SpecificationReader
        let schemas: SchemaReader
        let operations: [Operation]
        /// The routers with the selected operations.
        let routers: [RouterPlan]
        /// The routers with all operations.
        let allRouters: [RouterPlan]
        let apiName: String
    }

    /// Refuses a selection that matches nothing.
    private func checkSelection(of operations: [Operation]) throws(DocumentError) {
        if configuration.ignoresUnknownNames { return }
        let tags = Set(operations.flatMap(\.tags))
        let ids = Set(operations.map { $0.id ?? $0.title })
        var unknown = configuration.tags.subtracting(tags).map { "no operation has the tag \(quoted($0))" }
        unknown += configuration.paths.filter { path in !operations.contains { $0.path.hasPrefix(path) } }
            .map { "no path starts with \(quoted($0))" }
        unknown += configuration.operations.subtracting(ids).map { "there is no operation \(quoted($0))" }
        if let first = unknown.min() { throw DocumentError("\(documents.root.file): \(first)") }
    }

    /// Refuses names of types that are not Swift identifiers.
    ///
    /// A new name of an operation is changed to an identifier where it is used.
    private func checkNames(_ operations: [Operation]) throws(DocumentError) {
        var names = configuration.name.map { [("name", $0)] } ?? []
        if !configuration.prefix.isEmpty { names.append(("prefix", configuration.prefix)) }
        let functions = Set(operations.map(\.wantedName))
        for (key, name) in configuration.renames.sorted(by: { $0.key < $1.key }) where !functions.contains(key) {
            names.append(("renames", name))
        }
        for (setting, name) in names where !Identifier.isTypeName(name) {
            throw DocumentError("`\(setting)`: \(quoted(name)) cannot be in the name of a type; use letters and digits")
        }
    }

    private func warnOfUnusedRenames(_ operations: [Operation], _ schemas: SchemaReader, _ warnings: Warnings) {
        let models = schemas.declarations.filter { $0.parent == nil && !$0.isCopy }.map(\.node)
        let known = Set(operations.map(\.wantedName) + (components() + models).map(\.key))
        for key in configuration.renames.keys.sorted() where !known.contains(key) {
            warnings.add(documents.root, "`renames`: there is no operation and no schema \(quoted(key))")
        }
    }

    /// Chooses the names of the whole document, and then selects the operations.
    ///
    /// So a selection of operations has the same names, types and files as the whole document.
    private func plan() throws(DocumentError) -> Plan {
        let warnings = Warnings()
        let specification = SpecificationReader(documents: documents, warnings: warnings)
        try specification.checkVersion()
        let operations = try specification.operations()
        try checkSelection(of: operations)
        try checkNames(operations)
        let apiName = configuration.name ?? Self.name(of: documents.root)
        let selected = operations.filter { configuration.selects($0) }
        let isPart = selected.count < operations.count
        for warning in selected.flatMap(\.warnings) { warnings.add(warning) }
        // The warnings are only those of the selected operations.
        if isPart {
            let schemas = SchemaReader(documents, warnings)
            var planner = Planner(schemas, specification, configuration, apiName: apiName)
            let routers = try planner.plan(selected) { _ in }
            try schemas.finish()
            for router in routers { mark(router, schemas) }
            _ = schemas.giveUpAmbiguous()
        }
        let schemas = SchemaReader(documents, isPart ? Warnings() : warnings)
        var planner = Planner(schemas, specification, configuration, apiName: apiName)
        let allRouters = try planner.plan(operations, onProgress)
        try schemas.finish()
        for router in allRouters { mark(router, schemas) }
        if schemas.giveUpAmbiguous() {
            for router in allRouters { mark(router, schemas) }
        }
        if planner.separateForms(of: allRouters) {
            for declaration in schemas.declarations { declaration.usage = [] }
            for router in allRouters { mark(router, schemas) }
        }
        let taken = Set(allRouters.map(\.name))
            .union(["\(apiName)Server", "\(apiName)Credentials"])
            .union(ReservedNames.support).union(ReservedNames.parameters)
        schemas.assignNames(
            taken: taken,
            prefix: configuration.prefix,
            components: components(),
            renames: configuration.renames
        )
        warnOfUnusedRenames(operations, schemas, warnings)
        try Conformances(configuration: configuration, schemas: schemas).choose()
        let pages = PagePlanner(
            specification: specification,
            configuration: configuration,
            modelWriter: ModelWriter(configuration: configuration)
        )
        try pages.plan(allRouters)
        let routers = isPart ? allRouters.compactMap { $0.part(configuration.selects) } : allRouters
        if isPart {
            let kept = schemas.keep(only: routers.flatMap(types))
            for warning in schemas.warnings.all where kept.contains(warning.pointer) { warnings.add(warning) }
        }
        return Plan(
            warnings: warnings,
            specification: specification,
            schemas: schemas,
            operations: operations,
            routers: routers,
            allRouters: allRouters,
            apiName: apiName
        )
    }

    /// The types of a router's arguments, values and errors.
    private func types(_ router: RouterPlan) -> [TypeUse] {
        var types = router.functions.flatMap { $0.arguments.map(\.type) }
        for function in router.functions {
            if case .value(let type) = function.value { types.append(type.type) }
        }
        return types + (router.failure.map { [$0] } ?? [])
    }

    private func assembly(_ plan: Plan) throws(DocumentError) -> Assembly {
        try Assembly(
            configuration,
            plan.specification,
            plan.schemas,
            plan.routers,
            ModulePlan(configuration, plan.allRouters, plan.schemas, apiName: plan.apiName),
            plan.apiName
        )
    }

    /// Makes all files.
    ///
    /// - Throws: ``DocumentError`` for a document from which no code can be generated.
    public func generate() throws(DocumentError) -> Result {
        try LargeStack.run { () throws(DocumentError) in try generateHere() }
    }

    private func generateHere() throws(DocumentError) -> Result {
        let plan = try plan()
        let assembly = try assembly(plan)
        var lines: [String] = []
        for router in plan.routers {
            for function in router.functions {
                lines.append("\(function.operation.title) \(router.name).\(function.name)")
            }
        }
        return Result(
            files: assembly.files(onProgress),
            warnings: plan.warnings.all,
            operations: lines,
            operationCount: plan.operations.count { configuration.selects($0) }
        )
    }

    /// Generates code that calls each generated function, for `Scripts/openapi-suite`.
    ///
    /// - Throws: ``DocumentError`` for a document from which no code can be generated.
    public func callers() throws(DocumentError) -> [File] {
        try LargeStack.run { () throws(DocumentError) in
            let plan = try plan()
            let assembly = try assembly(plan)
            return CallerWriter(routerWriter: assembly.routerWriter, apiName: plan.apiName).files(of: plan.routers)
        }
    }

    /// The interface of the generated code.
    ///
    /// - Throws: ``DocumentError`` for a document from which no code can be generated.
    public func interface() throws(DocumentError) -> Interface {
        try LargeStack.run { () throws(DocumentError) in try interfaceHere() }
    }

    private func interfaceHere() throws(DocumentError) -> Interface {
        let plan = try plan()
        let assembly = try assembly(plan)
        return Interface(
            plan.specification,
            plan.routers,
            plan.schemas.declarations,
            assembly.routerWriter,
            assembly.modelWriter,
            ServerWriter(configuration: configuration, specification: plan.specification, apiName: plan.apiName)
        )
    }

    private func components() -> [Node] {
        documents.root["components"]?["schemas"]?.members.map(\.value) ?? []
    }

    private func mark(_ router: RouterPlan, _ schemas: SchemaReader) {
        for function in router.functions {
            for argument in function.arguments {
                switch argument.location {
                case .parameter: schemas.mark(argument.type, .parameter)
                case .body(.multipart, _): schemas.mark(argument.type, .form)
                case .body: schemas.mark(argument.type, .request)
                }
            }
            if case .value(let type) = function.value { schemas.mark(type.type, .response) }
        }
        if let failure = router.failure { schemas.mark(failure, .response) }
    }

    /// The API's name: the document's title without words such as "API".
    static func name(of root: Node) -> String {
        let title = root["info"]?["title"]?.string ?? "API"
        let noise: Set<String> = ["api", "apis", "rest", "http", "openapi", "specification", "spec", "the", "preview"]
        let words = Identifier.words(of: title).filter { word in
            let lower = word.lowercased()
            let isVersion = lower.hasPrefix("v") && lower.dropFirst().allSatisfy(\.isNumber)
            return !noise.contains(lower) && !isVersion && !word.allSatisfy(\.isNumber)
        }
        let name = Identifier.type(words.prefix(3).joined(separator: " "))
        return name == "Value" ? "API" : name
    }
}
