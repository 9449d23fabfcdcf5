// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension SchemaReader {
    /// The members of an object, collected from all parts of an `allOf`.
    struct ObjectParts {
        struct Member {
            let key: String
            let node: Node
            /// The type in which an inline type of the member is nested.
            let home: Declaration
            /// The same member in earlier parts, which may declare it as read-only or write-only.
            var earlier: [Node] = []
        }

        private(set) var members: [Member] = []
        private var indices: [String: Int] = [:]
        /// The names of the required members, in the order of the document.
        private(set) var required: [String] = []
        private var isRequired: Set<String> = []
        var additional: OptionalType?
        var isObject = false
        /// Parts that are not objects.
        var others: [OptionalType] = []
        /// The lists of alternatives among the parts.
        var unions: [(node: Node, alternatives: [Node])] = []
        var isNullable = false
        /// Whether a part has a type that excludes null.
        var refusesNull = false
        /// The number of nested levels of `allOf`.
        private(set) var depth = 0

        func isRequired(_ key: String) -> Bool { isRequired.contains(key) }

        mutating func put(_ member: Member) {
            guard let index = indices[member.key] else {
                indices[member.key] = members.count
                members.append(member)
                return
            }
            if SchemaReader.isTrivial(member.node) {
                members[index].earlier.append(member.node)
            } else if members[index].node !== member.node {
                var member = member
                member.earlier = members[index].earlier + [members[index].node] + member.earlier
                members[index] = member
            }
        }

        mutating func require(_ key: String) {
            if isRequired.insert(key).inserted { required.append(key) }
        }

        /// Adds the parts of another object, each only once.
        mutating func add(_ other: ObjectParts) {
            for member in other.members { put(member) }
            for key in other.required { require(key) }
            additional = other.additional ?? additional
            depth = max(depth, other.depth + 1)
            isObject = isObject || other.isObject
            isNullable = isNullable || other.isNullable
            refusesNull = refusesNull || other.refusesNull
            let known = Set(others.map(\.type.identity))
            others += other.others.filter { !known.contains($0.type.identity) }
            let lists = Set(unions.map { ObjectIdentifier($0.node) })
            unions += other.unions.filter { !lists.contains(ObjectIdentifier($0.node)) }
        }
    }

    struct PartsKey: Hashable {
        let node: ObjectIdentifier
        let home: ObjectIdentifier
    }
}
