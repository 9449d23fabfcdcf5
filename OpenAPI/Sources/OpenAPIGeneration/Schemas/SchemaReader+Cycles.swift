// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// Handles types that contain themselves, in time that is linear in the number of members.

extension SchemaReader {
    /// Refuses alternatives that consist only of each other.
    ///
    /// If a type contains itself, one of its members is stored out of line.
    func breakCycles() throws(DocumentError) {
        let alternatives = Graph(declarations) { declaration in
            switch declaration.kind {
            case .union(let union): union.cases.map(\.type)
            case .wrapper(let type): [type.type]
            default: []
            }
        }
        for declaration in declarations where declaration.union != nil && alternatives.isInCycle(declaration) {
            throw DocumentError(
                at: declaration.node,
                "the schema is an alternative of itself, so reading its values would never end"
            )
        }
        let all = Graph(declarations, contents)
        for declaration in declarations where declaration.union != nil && all.isInCycle(declaration) {
            declaration.isIndirect = true
        }
        boxBackEdges()
    }

    /// The types that a value stores inline.
    ///
    /// Arrays and dictionaries store their elements on the heap.
    private func contents(of declaration: Declaration) -> [TypeUse] {
        switch declaration.kind {
        case .structure(let structure): structure.properties.map(\.type.type)
        case .union(let union): declaration.isIndirect ? [] : union.cases.map(\.type)
        case .wrapper(let type): [type.type]
        case .pending, .enumeration, .opaque: []
        }
    }

    /// Boxes each property that leads back to a type on the current path.
    private func boxBackEdges() {
        enum State { case open, done }
        var states: [ObjectIdentifier: State] = [:]
        for start in declarations where states[ObjectIdentifier(start)] == nil {
            var stack = [Visit(declaration: start, types: contents(of: start))]
            states[ObjectIdentifier(start)] = .open
            while let visit = stack.last {
                let (declaration, types, next) = (visit.declaration, visit.types, visit.next)
                guard next < types.count else {
                    states[ObjectIdentifier(declaration)] = .done
                    stack.removeLast()
                    continue
                }
                stack[stack.count - 1].next += 1
                guard case .declared(let content) = types[next] else { continue }
                switch states[ObjectIdentifier(content)] {
                case nil:
                    states[ObjectIdentifier(content)] = .open
                    stack.append(Visit(declaration: content, types: contents(of: content)))
                case .open: box(above: stack)
                case .done: break
                }
            }
        }
    }

    /// Boxes the property of the innermost object on the current path.
    ///
    /// Wrappers and unions are skipped, because they have no properties.
    private func box(above stack: [Visit]) {
        for visit in stack.reversed() {
            guard var structure = visit.declaration.structure else { continue }
            structure.properties[visit.next - 1].isBoxed = true
            visit.declaration.kind = .structure(structure)
            return
        }
    }

    private struct Visit {
        let declaration: Declaration
        let types: [TypeUse]
        var next = 0
    }
}

/// The graph of types that contain types, with Tarjan's strongly connected components.
private struct Graph {
    private var components: [ObjectIdentifier: Int] = [:]
    private var sizes: [Int: Int] = [:]
    private var holdsItself: Set<ObjectIdentifier> = []

    init(_ declarations: [Declaration], _ contents: (Declaration) -> [TypeUse]) {
        var numbers: [ObjectIdentifier: Int] = [:]
        var low: [ObjectIdentifier: Int] = [:]
        var open: [ObjectIdentifier] = []
        var isOpen: Set<ObjectIdentifier> = []
        for start in declarations where numbers[ObjectIdentifier(start)] == nil {
            var stack: [(id: ObjectIdentifier, inner: [Declaration], next: Int)] = []
            func enter(_ declaration: Declaration) {
                let id = ObjectIdentifier(declaration)
                low[id] = numbers.count
                numbers[id] = numbers.count
                open.append(id)
                isOpen.insert(id)
                let inner = contents(declaration).compactMap { type -> Declaration? in
                    if case .declared(let declared) = type { declared } else { nil }
                }
                stack.append((id, inner, 0))
            }
            enter(start)
            while let (id, inner, next) = stack.last {
                if next < inner.count {
                    stack[stack.count - 1].next += 1
                    let other = ObjectIdentifier(inner[next])
                    if other == id { holdsItself.insert(id) }
                    if numbers[other] == nil {
                        enter(inner[next])
                    } else if isOpen.contains(other) {
                        low[id] = min(low[id] ?? 0, numbers[other] ?? 0)
                    }
                    continue
                }
                stack.removeLast()
                if let above = stack.last?.id { low[above] = min(low[above] ?? 0, low[id] ?? 0) }
                guard low[id] == numbers[id] else { continue }
                let component = sizes.count
                var size = 0
                while let member = open.popLast() {
                    isOpen.remove(member)
                    components[member] = component
                    size += 1
                    if member == id { break }
                }
                sizes[component] = size
            }
        }
    }

    /// Whether a type contains itself, directly or through other types.
    func isInCycle(_ declaration: Declaration) -> Bool {
        let id = ObjectIdentifier(declaration)
        if holdsItself.contains(id) { return true }
        return components[id].flatMap { sizes[$0] }.map { $0 > 1 } ?? false
    }
}
