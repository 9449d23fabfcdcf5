// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// Compares two interfaces.

extension Interface {
    /// The changes from this interface to a newer one: breaking changes first, then additions, then other changes.
    ///
    /// Changes of one kind are in the order of names.
    public func changes(to newer: Interface) -> [Change] {
        var changes: [Change] = []
        compareServers(newer, &changes)
        compareFunctions(newer, &changes)
        compareFailures(newer, &changes)
        compareModels(newer, &changes)
        // The functions of one operation share its parameters, so the same change can be found several times.
        var known: Set<Change> = []
        changes.removeAll { !known.insert($0).inserted }
        return Change.Kind.allCases.flatMap { kind in changes.filter { $0.kind == kind } }
    }

    // MARK: - Servers and security

    private func compareServers(_ newer: Interface, _ changes: inout [Change]) {
        if apiName != newer.apiName {
            let sentence = "\(apiName)Server was renamed to \(newer.apiName)Server, and \(apiName)Credentials likewise"
            changes.append(Change(kind: .breaking, sentence: sentence))
        }
        for (name, url) in servers {
            // Two environments can have the same URL.
            if newer.servers.contains(where: { $0.name == name && $0.url == url }) { continue }
            let line = PlainText.line(url)
            switch newer.servers.first(where: { $0.url == url })?.name {
            case nil: changes.append(Change(kind: .breaking, sentence: "the server \(line) was removed"))
            case let other?:
                changes.append(Change(kind: .breaking, sentence: "the server \(line) is .\(other) instead of .\(name)"))
            }
        }
        for (_, url) in newer.servers where !servers.contains(where: { $0.url == url }) {
            changes.append(Change(kind: .addition, sentence: "the server \(PlainText.line(url))"))
        }
        for key in Set(schemes.keys).union(newer.schemes.keys).sorted() {
            let name = "the security scheme \(PlainText.line(key))"
            switch (schemes[key], newer.schemes[key]) {
            case (nil, _): changes.append(Change(kind: .addition, sentence: name))
            case (_, nil): changes.append(Change(kind: .breaking, sentence: "\(name) was removed"))
            case (let old?, let new?) where old != new:
                let sentence = "\(name) has \(PlainText.line(new)) instead of \(PlainText.line(old))"
                changes.append(Change(kind: .breaking, sentence: sentence))
            default: break
            }
        }
    }

    private func compareFailures(_ newer: Interface, _ changes: inout [Change]) {
        let routers = Set(functions.values.joined().map(\.router)).intersection(
            newer.functions.values.joined().map(\.router)
        )
        for router in routers.sorted() where failures[router] != newer.failures[router] {
            let old = failures[router] ?? "no type"
            let new = newer.failures[router] ?? "no type"
            changes.append(Change(kind: .breaking, sentence: "\(router)'s errors have \(new) instead of \(old)"))
        }
    }

    // MARK: - Operations

    private func compareFunctions(_ newer: Interface, _ changes: inout [Change]) {
        // An operation whose path parameters have other names is the same operation.
        let newTitles = Dictionary(newer.functions.keys.map { (Self.shape(of: $0), $0) }) { min($0, $1) }
        let kept = Dictionary(
            uniqueKeysWithValues: functions.keys.map { title in
                (title, newer.functions[title] != nil ? title : newTitles[Self.shape(of: title)] ?? title)
            }
        )
        let added = Set(newer.functions.keys).subtracting(kept.values)
        for title in added.union(functions.keys).sorted() {
            func change(_ kind: Change.Kind, _ sentence: String) {
                changes.append(Change(kind: kind, sentence: "\(title): \(sentence)"))
            }
            let newTitle = kept[title] ?? title
            let old = functions[title] ?? []
            let new = newer.functions[newTitle] ?? []
            if new.isEmpty {
                changes.append(Change(kind: .breaking, sentence: "\(title) was removed"))
                continue
            }
            if old.isEmpty {
                changes.append(Change(kind: .addition, sentence: "\(title) as \(new[0].name)"))
                continue
            }
            for (old, new) in Self.pairs(old, new) {
                switch (old, new) {
                case (let old?, nil): change(.breaking, "\(old.signature) was removed")
                case (nil, let new?): change(.addition, new.signature)
                case (let old?, let new?): compare(old, new, change)
                case (nil, nil): break
                }
            }
            if let old = exchanges[title], let new = newer.exchanges[newTitle] {
                for (kind, sentence) in old.changes(to: new) { change(kind, sentence) }
            }
        }
    }

    /// The title of an operation without the names of the parameters in its path.
    private static func shape(of title: String) -> String {
        title.replacing(/\{[^}]*\}/, with: "{}")
    }

    /// Pairs the functions of one operation with the functions that replace them.
    ///
    /// Functions with the same signature are paired first, and the others in their order.
    private static func pairs(_ old: [Function], _ new: [Function]) -> [(Function?, Function?)] {
        var rest = new
        var pairs: [(Function?, Function?)] = old.map { function in
            guard let index = rest.firstIndex(where: { $0.signature == function.signature }) else {
                return (function, nil)
            }
            return (function, rest.remove(at: index))
        }
        for index in pairs.indices where pairs[index].1 == nil && !rest.isEmpty { pairs[index].1 = rest.removeFirst() }
        return pairs + rest.map { (nil, $0) }
    }

    private func compare(_ old: Function, _ new: Function, _ change: (Change.Kind, String) -> Void) {
        if old.name != new.name { change(.breaking, "\(old.name) was renamed to \(new.name)") }
        if old.value != new.value { change(.breaking, "the value's type changed from \(old.value) to \(new.value)") }
        if let pages = old.pages, new.pages != pages { change(.breaking, "the pages .\(pages) were removed") }
        if let pages = new.pages, old.pages != pages { change(.addition, "the pages .\(pages)") }
        for argument in old.arguments {
            let name = "the parameter \(argument.name)"
            guard let other = new.arguments.first(where: { $0.name == argument.name }) else {
                change(.breaking, "\(name) was removed")
                continue
            }
            let isSameType = other.type == argument.type
            if !isSameType {
                change(.breaking, "\(name) has the type \(other.type) instead of \(argument.type)")
            }
            if argument.isOptional, !other.isOptional { change(.breaking, "\(name) became required") }
            if !argument.isOptional, other.isOptional { change(.change, "\(name) became optional") }
            if other.format != argument.format {
                change(.breaking, "\(name) is the \(other.format) instead of the \(argument.format)")
            }
            for (sentence, isTighter) in argument.limits.differences(to: other.limits, isSameType: isSameType) {
                change(isTighter ? .breaking : .change, "\(name): \(sentence)")
            }
        }
        for argument in new.arguments where !old.arguments.contains(where: { $0.name == argument.name }) {
            change(argument.isOptional ? .addition : .breaking, "the parameter \(argument.name) is new")
        }
        if let order = Self.newOrder(old.arguments, new.arguments) {
            change(.breaking, "the parameters have another order: \(order)")
        }
    }

    /// The names that both lists have, in their new order; nil if the order is the same.
    ///
    /// Swift's arguments have a fixed order, so another order breaks callers that pass several of them.
    private static func newOrder(_ old: [Member], _ new: [Member]) -> String? {
        let names = Set(old.map(\.name)).intersection(new.map(\.name))
        let order = new.map(\.name).filter(names.contains)
        return order == old.map(\.name).filter(names.contains) ? nil : order.joined(separator: ", ")
    }

    // MARK: - Models

    private func compareModels(_ newer: Interface, _ changes: inout [Change]) {
        for name in Set(models.keys).union(newer.models.keys).sorted() {
            guard let old = models[name] else {
                changes.append(Change(kind: .addition, sentence: "the type \(name)"))
                continue
            }
            guard let new = newer.models[name] else {
                changes.append(Change(kind: .breaking, sentence: "the type \(name) was removed"))
                continue
            }
            if old.format != new.format, !old.format.isEmpty, !new.format.isEmpty {
                let sentence = "\(name): its \(new.format); before, its \(old.format)"
                changes.append(Change(kind: .breaking, sentence: PlainText.line(sentence)))
            }
            compare(old, new) { kind, sentence in
                changes.append(Change(kind: kind, sentence: "\(name).\(sentence)"))
            }
        }
    }

    private func compare(_ old: Model, _ new: Model, _ change: (Change.Kind, String) -> Void) {
        for member in old.members {
            guard let other = new.members.first(where: { $0.name == member.name }) else {
                change(.breaking, "\(member.name) was removed")
                continue
            }
            let isSameType = other.type == member.type
            if !isSameType {
                change(.breaking, "\(member.name) has the type \(other.type) instead of \(member.type)")
            } else if other.isOptional != member.isOptional {
                let isHarmless = other.isOptional && !new.isReceived
                let text = other.isOptional ? "optional" : "required"
                change(isHarmless ? .change : .breaking, "\(member.name) became \(text)")
            }
            if other.format != member.format, !other.format.isEmpty, !member.format.isEmpty {
                change(.breaking, "\(member.name) is the \(other.format) instead of the \(member.format)")
            }
            for (sentence, isTighter) in member.limits.differences(to: other.limits, isSameType: isSameType) {
                change(isTighter && new.isSent ? .breaking : .change, "\(member.name): \(sentence)")
            }
        }
        for member in new.members where !old.members.contains(where: { $0.name == member.name }) {
            if new.isUnion, new.isReceived {
                change(.breaking, "\(member.name) is new; a switch over the alternatives needs a case for it")
                continue
            }
            let isBreaking = !member.isOptional && new.isSent
            change(isBreaking ? .breaking : .addition, "\(member.name) is new" + (isBreaking ? " and required" : ""))
        }
        if old.hasInitializer, new.hasInitializer, let order = Self.newOrder(old.members, new.members) {
            change(.breaking, "init has another order of members: \(order)")
        }
        for (value, literal) in old.values {
            switch new.values.first(where: { $0.name == value })?.literal {
            case nil: change(.breaking, "\(value) was removed")
            case let other? where other != literal: change(.breaking, "\(value) is \(other) instead of \(literal)")
            default: break
            }
        }
        for (value, _) in new.values where !old.values.contains(where: { $0.name == value }) {
            change(.addition, "\(value) is new")
        }
    }
}

extension Interface.Function {
    /// The name of the router.
    var router: String { name.split(separator: ".").first.map(String.init) ?? name }

    /// The name with the label of the body, which distinguishes the functions of one operation.
    var signature: String {
        let bodies = arguments.filter { $0.format.isEmpty }.map { $0.name + ":" }
        return bodies.isEmpty ? name : "\(name)(\(bodies.joined()))"
    }
}
