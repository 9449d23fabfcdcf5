// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Decides which models are `Equatable` or `Hashable`.
struct Conformances {
    let configuration: Configuration
    let schemas: SchemaReader

    /// Marks the chosen models, and the models that they contain.
    ///
    /// - Throws: ``DocumentError`` for a name that no model has, and for a model that contains a file.
    func choose() throws(DocumentError) {
        try choose(configuration.equatable, "equatable") { $0.conformance = max($0.conformance, .equatable) }
        try choose(configuration.hashable, "hashable") { $0.conformance = max($0.conformance, .hashable) }
    }

    private func choose(
        _ models: Configuration.Models,
        _ setting: String,
        _ mark: (Declaration) -> Void
    ) throws(DocumentError) {
        let used = schemas.declarations.filter { !$0.usage.isEmpty && !$0.isOpaque }
        switch models {
        case .all:
            for declaration in used where file(in: declaration) == nil { mark(declaration) }
        case .named(let names):
            for name in names.sorted() {
                let found = used.filter {
                    $0.name == name || ($0.parent == nil && $0.owner == nil && Self.schemaName(of: $0) == name)
                }
                if found.isEmpty, !configuration.ignoresUnknownNames {
                    throw DocumentError("`\(setting)`: there is no model of the schema \(quoted(name))")
                }
                for declaration in found {
                    if let file = file(in: declaration) {
                        throw DocumentError("`\(setting)`: \(quoted(name)) contains a file in \(quoted(file))")
                    }
                    for inner in reachable(from: declaration) where !inner.isOpaque { mark(inner) }
                }
            }
        }
    }

    private static func schemaName(of declaration: Declaration) -> String {
        SchemaReader.componentName(of: declaration.node)
    }

    /// The declaration, and all declarations that it contains directly or indirectly.
    private func reachable(from declaration: Declaration) -> [Declaration] {
        var found: [Declaration] = [declaration]
        var known: Set<ObjectIdentifier> = [ObjectIdentifier(declaration)]
        var index = 0
        while index < found.count {
            for inner in found[index].parts where known.insert(ObjectIdentifier(inner)).inserted {
                found.append(inner)
            }
            index += 1
        }
        return found
    }

    /// The name of the first form with a file in the declaration; nil if there is no such form.
    private func file(in declaration: Declaration) -> String? {
        reachable(from: declaration).first { inner in
            guard inner.usage.contains(.form) else { return false }
            let types = inner.structure.map { $0.properties.map(\.type) + [$0.additional].compactMap(\.self) } ?? []
            return inner.hasFiles || types.contains(where: \.type.isBinary)
        }?.name
    }
}
