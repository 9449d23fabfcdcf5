// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The combined requirements of several schemas, with references followed and one alternative chosen.
struct MergedSchema {
    private(set) var constant: JSONValue?
    private(set) var allowed: [JSONValue]?
    private(set) var example: JSONValue?
    private(set) var properties: [String: [JSONNode]] = [:]
    private(set) var required: Set<String> = []
    /// The members that a discriminator fixes.
    private(set) var forced: [String: JSONValue] = [:]
    private(set) var additional: JSONNode?
    private(set) var prefix: [JSONNode] = []
    private(set) var items: [JSONNode] = []
    private(set) var isUnique = false
    private(set) var pattern: String?
    private(set) var format: String?
    private(set) var lowest: Double?
    private(set) var highest: Double?
    private(set) var excludesLowest = false
    private(set) var excludesHighest = false

    private var types: Set<String>?
    /// The pointers of the schemas that references lead to.
    private var included: Set<String> = []
    private var numbers: [String: Double] = [:]
    private let dialect: SchemaChecker.Dialect
    private let choice: Int
    private let isDeep: Bool

    /// Merges several schemas.
    ///
    /// - Parameters:
    ///   - choice: The index of the alternative to choose.
    ///   - isDeep: Whether to prefer an alternative without references, so that the generation of a recursive value
    ///     ends.
    init(_ schemas: [JSONNode], _ checker: SchemaChecker, choice: Int, isDeep: Bool) {
        dialect = checker.dialect
        self.choice = choice
        self.isDeep = isDeep
        for schema in schemas { merge(schema, depth: 0) }
    }

    /// The type of the value to make.
    var type: String {
        if var types, !types.isEmpty {
            if types.count > 1 { types.remove("null") }
            let order = ["object", "array", "string", "integer", "number", "boolean", "null"]
            return order.first { types.contains($0) } ?? "string"
        }
        if !properties.isEmpty || !required.isEmpty || additional != nil || count("minProperties") != nil {
            return "object"
        }
        if !items.isEmpty || !prefix.isEmpty || count("minItems") != nil { return "array" }
        if lowest != nil || highest != nil || numbers["multipleOf"] != nil { return "number" }
        return "string"
    }

    func number(_ keyword: String) -> Double? { numbers[keyword] }

    func count(_ keyword: String) -> Int? { numbers[keyword].flatMap { Int(exactly: $0) } }

    private mutating func merge(_ schema: JSONNode, depth: Int) {
        guard depth < 32, let object = schema.value.object else { return }
        if let reference = object["$ref"]?.string {
            // A schema that many parts include is merged once.
            if let target = schema.document.target(of: reference), included.insert(target.pointer).inserted {
                merge(target, depth: depth + 1)
            }
            if dialect == .openAPI30 { return }
        }
        mergeGeneral(schema, object)
        mergeNumbers(object)
        for part in schema["allOf"]?.elements ?? [] { merge(part, depth: depth + 1) }
        for keyword in ["oneOf", "anyOf"] {
            guard let part = chosen(schema[keyword]?.elements ?? []) else { continue }
            merge(part, depth: depth + 1)
            force(part, schema["discriminator"])
        }
    }

    private func chosen(_ alternatives: [JSONNode]) -> JSONNode? {
        var alternatives = alternatives
        if alternatives.count > 1 { alternatives.removeAll { $0.text("type") == "null" } }
        let possible = alternatives.filter { allows($0) }
        if !possible.isEmpty { alternatives = possible }
        if isDeep {
            // Prefers scalars over objects, which may be recursive.
            let plain = alternatives.filter { $0.value.object?["$ref"] == nil && $0.text("type") != "object" }
            if !plain.isEmpty { alternatives = plain }
        }
        return alternatives.isEmpty ? nil : alternatives[choice % alternatives.count]
    }

    /// Whether an alternative lists no values, or lists a value that the merged schemas also allow.
    private func allows(_ alternative: JSONNode) -> Bool {
        guard let object = alternative.resolved?.value.object,
            let values = object["const"].map({ [$0] }) ?? object["enum"]?.array
        else { return true }
        return values.contains { value in
            constant.map { $0 == value } ?? true && allowed?.contains(value) ?? true
        }
    }

    private mutating func force(_ part: JSONNode, _ discriminator: JSONNode?) {
        guard let name = discriminator?.text("propertyName"), let reference = part.text("$ref") else { return }
        let last = reference.split(separator: "/").last.map(String.init) ?? ""
        let mapped = (discriminator?["mapping"]?.members ?? []).filter {
            $0.node.value.string == reference || $0.node.value.string == last
        }
        let names = mapped.isEmpty ? [last] : mapped.map(\.key)
        // If the alternative's own schema fixes the value, it takes precedence.
        let own = part.resolved?["properties"]?[name]?.resolved
        guard own?["const"] == nil else { return }
        let values = own?["enum"]?.value.array
        let allowed = names.map(JSONValue.string).first { values?.contains($0) ?? true }
        if let allowed { forced[name] = allowed }
    }

    /// The types that both sets allow; each integer is also a number.
    private static func common(_ left: Set<String>, _ right: Set<String>) -> Set<String> {
        var both = left.intersection(right)
        let haveIntegers = [(left, right), (right, left)].contains { $0.contains("number") && $1.contains("integer") }
        if haveIntegers, !both.contains("number") { both.insert("integer") }
        return both
    }

    private mutating func mergeGeneral(_ schema: JSONNode, _ object: [String: JSONValue]) {
        if !schema.types.isEmpty {
            let names = Set(schema.types)
            types = types.map { Self.common($0, names) } ?? names
        }
        if let value = object["const"] { constant = value }
        if let values = object["enum"]?.array { allowed = allowed.map { $0.filter(values.contains) } ?? values }
        if let value = object["example"] ?? object["examples"]?.array?.first ?? object["default"], example == nil {
            example = value
        }
        for (key, node) in schema["properties"]?.members ?? [] { properties[key, default: []].append(node) }
        required.formUnion(object["required"]?.array?.compactMap(\.string) ?? [])
        if let node = schema["additionalProperties"], node.value.object != nil { additional = node }
        if let node = schema["items"], node.value.object != nil { items.append(node) }
        if let nodes = schema["prefixItems"]?.elements, prefix.isEmpty { prefix = nodes }
        if object["uniqueItems"]?.bool == true { isUnique = true }
        pattern = object["pattern"]?.string ?? pattern
        format = object["format"]?.string ?? (object["contentEncoding"]?.string == "base64" ? "byte" : format)
    }

    private mutating func mergeNumbers(_ object: [String: JSONValue]) {
        for keyword in ["minLength", "minItems", "minProperties"] {
            if let value = object[keyword]?.double { numbers[keyword] = max(numbers[keyword] ?? value, value) }
        }
        for keyword in ["maxLength", "maxItems", "maxProperties"] {
            if let value = object[keyword]?.double { numbers[keyword] = min(numbers[keyword] ?? value, value) }
        }
        numbers["multipleOf"] = object["multipleOf"]?.double ?? numbers["multipleOf"]
        for keyword in ["minimum", "exclusiveMinimum"] {
            guard let value = object[keyword]?.double, value >= lowest ?? value else { continue }
            lowest = value
            excludesLowest = keyword == "exclusiveMinimum" || object["exclusiveMinimum"]?.bool == true
        }
        for keyword in ["maximum", "exclusiveMaximum"] {
            guard let value = object[keyword]?.double, value <= highest ?? value else { continue }
            highest = value
            excludesHighest = keyword == "exclusiveMaximum" || object["exclusiveMaximum"]?.bool == true
        }
    }
}
