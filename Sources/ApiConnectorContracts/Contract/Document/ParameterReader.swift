// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

/// Reads a parameter's value from the texts of a request, in the parameter's style.
struct ParameterReader {
    let parameter: DocumentedParameter
    let values: TextValues

    private var schema: JSONNode? { parameter.schema }

    /// The value of a text from a path, a header field or a cookie.
    ///
    /// - Parameter isEncoded: Whether the text is percent-encoded.
    func value(of text: String, isEncoded: Bool) -> JSONValue {
        func decoded(_ text: some StringProtocol) -> String {
            isEncoded ? text.removingPercentEncoding ?? String(text) : String(text)
        }
        var text = text[...]
        switch parameter.style {
        case .label: text = text.hasPrefix(".") ? text.dropFirst() : text
        case .matrix where parameter.explodes: return matrix(text, decoded)
        case .matrix:
            let prefix = ";\(parameter.name)="
            text = text.hasPrefix(prefix) ? text.dropFirst(prefix.count) : text
        default: break
        }
        let parts = Self.split(text, at: parameter.delimiters).map { $0.trimmingCharacters(in: .whitespaces) }
        var candidates: [JSONValue] = []
        if values.describes("object", "properties", schema) {
            candidates.append(values.object(pairs(parts, decoded), schema))
        }
        if values.describes("array", "items", schema) {
            candidates.append(values.array(text.isEmpty ? [] : parts.map(decoded), schema))
        }
        return values.choose(candidates + values.candidates(decoded(text)), schema)
    }

    private func matrix(_ text: Substring, _ decoded: (Substring) -> String) -> JSONValue {
        let pairs = text.split(separator: ";").map { part -> (name: String, text: String) in
            let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (decoded(halves[0]), halves.count > 1 ? decoded(halves[1]) : "")
        }
        var candidates: [JSONValue] = []
        if values.describes("object", "properties", schema) { candidates.append(values.object(pairs, schema)) }
        if values.describes("array", "items", schema) { candidates.append(values.array(pairs.map(\.text), schema)) }
        return values.choose(candidates + values.candidates(pairs.first?.text ?? ""), schema)
    }

    private func pairs(_ parts: [String], _ decoded: (String) -> String) -> [(name: String, text: String)] {
        if parameter.explodes {
            return parts.map { part in
                let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return (decoded(String(halves[0])), halves.count > 1 ? decoded(String(halves[1])) : "")
            }
        }
        return stride(from: 0, to: parts.count - 1, by: 2).map { (decoded(parts[$0]), decoded(parts[$0 + 1])) }
    }

    // MARK: - Queries

    /// An item of a query or a form, with its percent-encoded value.
    struct Item: Sendable, Equatable {
        let name: String
        let raw: String

        var text: String { raw.removingPercentEncoding ?? raw }

        /// The items of a query.
        ///
        /// - Parameter isForm: Whether a plus sign is a space.
        static func all(in query: String, isForm: Bool = false) -> [Item] {
            query.split(separator: "&").map { part in
                let plain = isForm ? String(part).replacing("+", with: "%20") : String(part)
                let halves = plain.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let name = halves[0].removingPercentEncoding ?? String(halves[0])
                return Item(name: name, raw: halves.count > 1 ? String(halves[1]) : "")
            }
        }
    }

    /// Removes this parameter's items from a query, and returns their value; nil if there are no such items.
    func value(takingFrom items: inout [Item]) -> JSONValue? {
        if parameter.style == .deepObject { return deepObject(&items) }
        if parameter.explodes, values.describes("object", "properties", schema),
            !items.contains(where: { $0.name == parameter.name })
        {
            return explodedObject(&items)
        }
        let own = items.filter { $0.name == parameter.name }
        items.removeAll { $0.name == parameter.name }
        guard let first = own.first else { return nil }
        var candidates: [JSONValue] = []
        if values.describes("array", "items", schema) {
            let texts =
                parameter.explodes || own.count > 1
                ? own.map(\.text)
                : Self.split(first.raw[...], at: parameter.delimiters).map { $0.removingPercentEncoding ?? $0 }
            candidates.append(values.array(texts == [""] ? [] : texts, schema))
        }
        if values.describes("object", "properties", schema) {
            let parts = Self.split(first.raw[...], at: parameter.delimiters)
            candidates.append(values.object(pairs(parts) { $0.removingPercentEncoding ?? $0 }, schema))
        }
        if own.count > 1, candidates.isEmpty { return values.array(own.map(\.text), schema) }
        return values.choose(candidates + values.candidates(first.text), schema)
    }

    /// The object of items such as `filter[age]=3`.
    ///
    /// OpenAPI does not define how nested objects are written. Most clients write `filter[owner][age]=3`.
    private func deepObject(_ items: inout [Item]) -> JSONValue? {
        let prefix = parameter.name + "["
        let own = items.filter { $0.name.hasPrefix(prefix) }
        guard !own.isEmpty else { return nil }
        items.removeAll { $0.name.hasPrefix(prefix) }
        return deepObject(own.map { (path: $0.name.dropFirst(parameter.name.count), text: $0.text) }, schema, depth: 0)
    }

    private func deepObject(_ items: [(path: Substring, text: String)], _ schema: JSONNode?, depth: Int) -> JSONValue {
        /// `[owner][age]` as `owner` and `[age]`; a path in another form is one name.
        func split(_ path: Substring) -> (name: String, rest: Substring) {
            let name = path.dropFirst().prefix { $0 != "]" }
            let rest = path.dropFirst(name.count + 2)
            return rest.isEmpty || rest.hasPrefix("[") ? (String(name), rest) : (String(path.dropFirst()), "")
        }
        let parts = items.map { (part: split($0.path), text: $0.text) }
        var members: [String: JSONValue] = [:]
        for name in Set(parts.map(\.part.name)) {
            let own = parts.filter { $0.part.name == name }
            let property = schema.flatMap { values.property(name, of: $0) }
            let isList = values.describes("array", "items", property)
            // An element of a list can have an index, as in `filter[tags][0]=a`, or an empty pair of brackets.
            let isPlain = own.contains { part in
                part.part.rest.isEmpty || (isList && part.part.rest.wholeMatch(of: /\[[0-9]*\]/) != nil)
            }
            guard isPlain || depth >= 16 else {
                members[name] = deepObject(own.map { ($0.part.rest, $0.text) }, property, depth: depth + 1)
                continue
            }
            let list = values.array(own.map(\.text), property)
            members[name] = values.choose(
                (isList || own.count > 1 ? [list] : []) + (own.count == 1 ? values.candidates(own[0].text) : []),
                property
            )
        }
        return .object(members)
    }

    private func explodedObject(_ items: inout [Item]) -> JSONValue? {
        guard let schema else { return nil }
        let names = values.propertyNames(of: schema)
        let isOpen = values.part("additionalProperties", of: schema).map { $0.value.bool != false } ?? names.isEmpty
        let own = items.filter { isOpen || names.contains($0.name) }
        guard !own.isEmpty else { return nil }
        items.removeAll { isOpen || names.contains($0.name) }
        return object(own)
    }

    /// The object of a form's items.
    ///
    /// A name that repeats becomes a list.
    func object(_ items: [Item]) -> JSONValue {
        var members: [String: JSONValue] = [:]
        for name in Set(items.map(\.name)) {
            let texts = items.filter { $0.name == name }.map(\.text)
            let property = schema.flatMap { values.property(name, of: $0) }
            let list = values.array(texts, property)
            var candidates = texts.count == 1 ? values.candidates(texts[0]) : [list]
            if values.describes("array", "items", property), texts.count == 1 { candidates.append(list) }
            if let json = JSONValue(parsing: Data(texts[0].utf8)), json.object != nil || json.array != nil {
                candidates.append(json)
            }
            members[name] = values.choose(candidates, property)
        }
        return .object(members)
    }

    private static func split(_ text: Substring, at delimiters: [String]) -> [String] {
        delimiters.reduce([String(text)]) { parts, delimiter in
            parts.flatMap { $0.components(separatedBy: delimiter) }
        }
    }
}
