// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The interface of generated code: operations with their functions, and models with their members.
public struct Interface: Sendable {
    struct Function: Equatable {
        var name: String
        var arguments: [Member]
        var value: String
    }

    struct Member: Equatable {
        var name: String
        var type: String
        /// Whether a caller can omit it.
        var isOptional: Bool
    }

    struct Model: Equatable {
        var isSent: Bool
        var isReceived: Bool
        var members: [Member]
        var values: [String]
    }

    var functions: [String: [Function]] = [:]
    var models: [String: Model] = [:]

    init(
        _ routers: [RouterPlan],
        _ declarations: [Declaration],
        _ routerWriter: RouterWriter,
        _ modelWriter: ModelWriter
    ) {
        for router in routers {
            for function in router.functions {
                let arguments = function.arguments.map {
                    Member(name: $0.name, type: routerWriter.argumentCode($0), isOptional: $0.isOptional)
                }
                let own = Function(
                    name: "\(router.name).\(function.name)",
                    arguments: arguments,
                    value: routerWriter.returned(function)
                )
                functions[function.operation.title, default: []].append(own)
            }
        }
        for declaration in declarations where !declaration.usage.isEmpty {
            var model = Model(
                isSent: !declaration.usage.isDisjoint(with: [.request, .parameter, .form]),
                isReceived: declaration.usage.contains(.response),
                members: [],
                values: []
            )
            switch declaration.kind {
            case .structure(let structure):
                model.members = modelWriter.members(of: structure, declaration)
            case .enumeration(let enumeration): model.values = enumeration.values.map(\.name)
            case .union(let union):
                model.members = union.cases.map { Member(name: $0.name, type: $0.type.code, isOptional: true) }
            case .wrapper(let type): model.members = [Member(name: "value", type: type.code, isOptional: false)]
            case .pending, .opaque: continue
            }
            models[declaration.name] = model
        }
    }

    /// A difference that affects callers.
    public struct Change: Sendable, Hashable, CustomStringConvertible {
        /// Whether existing code may no longer compile, or may fail when it runs.
        public let isBreaking: Bool
        /// The change as a sentence.
        public let sentence: String

        /// The kind and the sentence.
        public var description: String { (isBreaking ? "breaking: " : "added: ") + sentence }
    }

    /// The changes from this interface to a newer one: breaking changes first, otherwise in the order of names.
    public func changes(to newer: Interface) -> [Change] {
        var changes: [Change] = []
        compareFunctions(newer, &changes)
        compareModels(newer, &changes)
        return changes.filter(\.isBreaking) + changes.filter { !$0.isBreaking }
    }

    private func compareFunctions(_ newer: Interface, _ changes: inout [Change]) {
        for title in Set(functions.keys).union(newer.functions.keys).sorted() {
            let old = functions[title] ?? []
            let new = newer.functions[title] ?? []
            if new.isEmpty {
                changes.append(Change(isBreaking: true, sentence: "\(title) was removed"))
                continue
            }
            if old.isEmpty {
                changes.append(Change(isBreaking: false, sentence: "\(title) as \(new[0].name)"))
                continue
            }
            for index in 0..<max(old.count, new.count) {
                guard index < new.count else {
                    changes.append(Change(isBreaking: true, sentence: "\(title): \(old[index].name) was removed"))
                    continue
                }
                guard index < old.count else {
                    changes.append(Change(isBreaking: false, sentence: "\(title): \(new[index].name)"))
                    continue
                }
                compare(old[index], new[index], title, &changes)
            }
        }
    }

    private func compare(_ old: Function, _ new: Function, _ title: String, _ changes: inout [Change]) {
        func change(_ isBreaking: Bool, _ sentence: String) {
            changes.append(Change(isBreaking: isBreaking, sentence: "\(title): \(sentence)"))
        }
        if old.name != new.name { change(true, "\(old.name) was renamed to \(new.name)") }
        if old.value != new.value { change(true, "the value's type changed from \(old.value) to \(new.value)") }
        for argument in old.arguments {
            guard let other = new.arguments.first(where: { $0.name == argument.name }) else {
                change(true, "the parameter \(argument.name) was removed")
                continue
            }
            if other.type != argument.type {
                change(true, "the parameter \(argument.name) has the type \(other.type) instead of \(argument.type)")
            }
            if argument.isOptional, !other.isOptional { change(true, "the parameter \(argument.name) became required") }
        }
        for argument in new.arguments where !old.arguments.contains(where: { $0.name == argument.name }) {
            change(!argument.isOptional, "the parameter \(argument.name) is new")
        }
    }

    private func compareModels(_ newer: Interface, _ changes: inout [Change]) {
        func change(_ isBreaking: Bool, _ sentence: String) {
            changes.append(Change(isBreaking: isBreaking, sentence: sentence))
        }
        for name in Set(models.keys).union(newer.models.keys).sorted() {
            guard let old = models[name] else {
                change(false, "the type \(name)")
                continue
            }
            guard let new = newer.models[name] else {
                change(true, "the type \(name) was removed")
                continue
            }
            for member in old.members {
                guard let other = new.members.first(where: { $0.name == member.name }) else {
                    change(true, "\(name).\(member.name) was removed")
                    continue
                }
                if other.type != member.type {
                    change(true, "\(name).\(member.name) has the type \(other.type) instead of \(member.type)")
                } else if other.isOptional != member.isOptional {
                    let isHarmless = other.isOptional && !new.isReceived
                    change(!isHarmless, "\(name).\(member.name) became \(other.isOptional ? "optional" : "required")")
                }
            }
            for member in new.members where !old.members.contains(where: { $0.name == member.name }) {
                change(!member.isOptional && new.isSent, "\(name).\(member.name)")
            }
            for value in old.values where !new.values.contains(value) { change(true, "\(name).\(value) was removed") }
            for value in new.values where !old.values.contains(value) { change(false, "\(name).\(value)") }
        }
    }
}
