// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Decides which module each router and each model is in.
struct ModulePlan {
    /// The module that all others import; nil if there is only one module.
    let shared: String?

    private let names: [String: String]
    private let models: [ObjectIdentifier: String]

    /// Distributes the routers and models of the whole document over the modules of the configuration.
    ///
    /// - Throws: ``DocumentError`` for modules that are not possible.
    init(
        _ configuration: Configuration,
        _ routers: [RouterPlan],
        _ schemas: SchemaReader,
        apiName: String
    ) throws(DocumentError) {
        guard !configuration.modules.isEmpty else {
            shared = nil
            names = [:]
            models = [:]
            return
        }
        let shared = apiName + "Models"
        let others = apiName + "Others"
        self.shared = shared
        try Self.check(configuration, routers, [shared, others])
        var names: [String: String] = [:]
        for router in routers {
            names[router.name] = configuration.modules.first { $0.tags.contains(router.tag) }?.name ?? others
        }
        self.names = names
        var users = Users()
        for router in routers {
            guard let module = names[router.name] else { continue }
            for function in router.functions {
                for argument in function.arguments { users.add(argument.type, module) }
                if case .value(let type) = function.value { users.add(type.type, module) }
            }
            if let failure = router.failure { users.add(failure, module) }
        }
        users.spread()
        models = users.modules.mapValues { $0.count == 1 ? $0.first ?? shared : shared }
    }

    private static func check(
        _ configuration: Configuration,
        _ routers: [RouterPlan],
        _ own: Set<String>
    ) throws(DocumentError) {
        func refuse(_ sentence: String) throws(DocumentError) { throw DocumentError("`modules`: " + sentence) }
        if configuration.access == .internal { try refuse("set `access` to `package` or `public`") }
        if configuration.routers == .single { try refuse("one router for all cannot be in several modules") }
        var tags: Set<String> = []
        var modules = own
        for module in configuration.modules {
            if Identifier.type(module.name) != module.name || ReservedNames.types.contains(module.name) {
                try refuse("\(quoted(module.name)) cannot be the name of a module")
            }
            if !modules.insert(module.name).inserted { try refuse("there are two modules \(quoted(module.name))") }
            for tag in module.tags.sorted() where !tags.insert(tag).inserted {
                try refuse("the tag \(quoted(tag)) is in two modules")
            }
        }
        if let unknown = tags.subtracting(routers.map(\.tag)).min() {
            try refuse("no operation has the first tag \(quoted(unknown))")
        }
    }

    /// The folder of a router, with a slash at its end; empty if there is only one module.
    func folder(of router: RouterPlan) -> String { names[router.name].map { $0 + "/" } ?? "" }

    /// The folder of a model, with a slash at its end; empty if there is only one module.
    func folder(of declaration: Declaration) -> String {
        guard let shared else { return "" }
        return (models[ObjectIdentifier(declaration.outermost)] ?? shared) + "/"
    }

    /// The folder of the code that all modules share, with a slash at its end; empty if there is only one module.
    var sharedFolder: String { shared.map { $0 + "/" } ?? "" }

    /// Finds the modules that use each model.
    private struct Users {
        private(set) var modules: [ObjectIdentifier: Set<String>] = [:]
        private var changed: [Declaration] = []

        mutating func add(_ type: TypeUse, _ module: String) {
            for declaration in type.declarations { add(declaration, [module]) }
        }

        private mutating func add(_ declaration: Declaration, _ names: Set<String>) {
            let id = ObjectIdentifier(declaration)
            guard !modules[id, default: []].isSuperset(of: names) else { return }
            modules[id, default: []].formUnion(names)
            changed.append(declaration)
        }

        /// Extends the use of models: a module that uses a model also uses the models in it, and the models around
        /// it.
        mutating func spread() {
            while let declaration = changed.popLast() {
                let names = modules[ObjectIdentifier(declaration)] ?? []
                for part in declaration.parts { add(part, names) }
                for nested in declaration.nested { add(nested, names) }
                if let parent = declaration.parent { add(parent, names) }
            }
        }
    }
}
