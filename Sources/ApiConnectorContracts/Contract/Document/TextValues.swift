// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

/// Converts the text of a parameter or a form to the JSON value that its schema accepts.
struct TextValues {
    let checker: SchemaChecker

    /// The value of a text that is not a list or an object.
    func scalar(_ text: String, _ schema: JSONNode?) -> JSONValue {
        choose(candidates(text), schema)
    }

    /// The values that a text can be: the text itself, and the number, Boolean or null that it spells.
    func candidates(_ text: String) -> [JSONValue] {
        var candidates = [JSONValue.string(text)]
        if let value = JSONValue(parsing: Data(text.utf8)) {
            switch value {
            case .null, .bool, .number: candidates.append(value)
            case .string, .array, .object: break
            }
        }
        return candidates
    }

    /// Makes a list from texts.
    func array(_ texts: [String], _ schema: JSONNode?) -> JSONValue {
        let items = schema.flatMap { part("items", of: $0) }
        // OpenAPI does not define how an object in a list is written. Most clients write JSON.
        let hasObjects = describes("object", "properties", items)
        return .array(
            texts.map { text in
                let object = hasObjects ? JSONValue(parsing: Data(text.utf8)) : nil
                return choose(candidates(text) + (object?.object == nil ? [] : [object].compactMap(\.self)), items)
            }
        )
    }

    /// Makes an object from members.
    func object(_ pairs: [(name: String, text: String)], _ schema: JSONNode?) -> JSONValue {
        var members: [String: JSONValue] = [:]
        for pair in pairs {
            members[pair.name] = scalar(pair.text, schema.flatMap { property(pair.name, of: $0) })
        }
        return .object(members)
    }

    /// The first value that the schema accepts; otherwise the nearest value.
    func choose(_ candidates: [JSONValue], _ schema: JSONNode?) -> JSONValue {
        guard let schema, candidates.count > 1 else { return candidates.first ?? .null }
        var nearest = (candidate: candidates[0], isOfType: false)
        for candidate in candidates {
            let violations = checker.violations(of: candidate, against: schema)
            if violations.isEmpty { return candidate }
            let isOfType = !violations.contains { $0.value.isEmpty && $0.schema.hasSuffix("/type") }
            if isOfType, !nearest.isOfType { nearest = (candidate, true) }
        }
        return nearest.candidate
    }

    // MARK: - Parts of schemas

    /// The schema of a member: the one that names the member, or else that of additional members; nil if there is
    /// neither.
    func property(_ name: String, of schema: JSONNode) -> JSONNode? {
        find(schema) { $0["properties"]?[name] } ?? part("additionalProperties", of: schema)
    }

    /// The schema of a keyword, in the schema itself or in one of the schemas that it combines.
    func part(_ keyword: String, of schema: JSONNode) -> JSONNode? {
        find(schema) { $0[keyword] }
    }

    /// The names of the members that a schema lists.
    func propertyNames(of schema: JSONNode) -> Set<String> {
        var names: Set<String> = []
        _ = find(schema) { node -> JSONNode? in
            names.formUnion((node["properties"]?.members ?? []).map(\.key))
            return nil
        }
        return names
    }

    /// Whether a schema describes values of a type: it names the type, or has a keyword of that type.
    func describes(_ type: String, _ keyword: String, _ schema: JSONNode?) -> Bool {
        guard let schema else { return false }
        let found = find(schema) { node -> JSONNode? in
            node.types.contains(type) || (node["type"] == nil && node[keyword] != nil) ? node : nil
        }
        return found != nil
    }

    /// Whether a schema describes a file, possibly as one of its alternatives.
    func describesFile(_ schema: JSONNode?) -> Bool {
        schema.flatMap { find($0) { $0.text("format") == "binary" ? $0 : nil } } != nil
    }

    private func find(_ schema: JSONNode, _ pick: (JSONNode) -> JSONNode?) -> JSONNode? {
        schema.combined(by: ["allOf", "anyOf", "oneOf"]).lazy.compactMap(pick).first
    }
}
