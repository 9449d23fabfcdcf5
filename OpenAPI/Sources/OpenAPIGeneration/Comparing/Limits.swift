// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The limits, the format and the default of a schema, by keyword.
///
/// A keyword after `items` applies to the elements of an array.
struct Limits: Equatable {
    private(set) var values: [String: String] = [:]

    private static let bounds: Set<String> = ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"]
    private static let lower: Set<String> = ["minLength", "minItems", "minProperties"]
    private static let upper: Set<String> = ["maxLength", "maxItems", "maxProperties"]
    private static let others: Set<String> = ["multipleOf", "pattern", "format", "uniqueItems"]

    init() {}

    /// Reads a schema.
    ///
    /// - Parameter resolve: Returns the schema that a reference leads to, or the schema itself.
    init(_ node: Node?, _ resolve: (Node) -> Node?) {
        read(node, prefix: "", depth: 0, resolve)
    }

    private mutating func read(_ node: Node?, prefix: String, depth: Int, _ resolve: (Node) -> Node?) {
        guard let node, depth < 4, let target = resolve(node) else { return }
        for member in target.members {
            let isLimit = [Self.bounds, Self.lower, Self.upper, Self.others].contains { $0.contains(member.key) }
            guard isLimit || member.key == "default", let text = member.value.scalarText, text != "false" else {
                continue
            }
            values[prefix + member.key] = text
        }
        // In OpenAPI 3.0, a Boolean says that `minimum` itself is excluded. Later versions have the number here.
        for (limit, keyword) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")]
        where values[prefix + keyword] == "true" {
            values[prefix + keyword] = values.removeValue(forKey: prefix + limit)
        }
        // A default can also be next to the reference.
        if let text = node["default"]?.scalarText { values[prefix + "default"] = text }
        read(target["items"], prefix: prefix + "items ", depth: depth + 1, resolve)
        // Many documents write a nullable type as two alternatives, one of which is null.
        let alternatives = target["anyOf"]?.elements ?? target["oneOf"]?.elements ?? []
        let typed = alternatives.filter { $0["type"]?.string != "null" }
        if typed.count == 1, alternatives.count == 2 { read(typed[0], prefix: prefix, depth: depth + 1, resolve) }
        if let only = target["allOf"]?.elements, only.count == 1 {
            read(only[0], prefix: prefix, depth: depth + 1, resolve)
        }
    }

    /// The differences between these limits and newer ones.
    ///
    /// - Parameters:
    ///   - newer: The newer limits.
    ///   - isSameType: Whether the type is the same. If it is not, the format is not compared.
    /// - Returns: A sentence for each difference, and whether a value that was valid may now be invalid.
    func differences(to newer: Limits, isSameType: Bool = true) -> [(sentence: String, isTighter: Bool)] {
        Set(values.keys).union(newer.values.keys).sorted().compactMap { key in
            if !isSameType, key.hasSuffix("format") { return nil }
            let old = values[key]
            let new = newer.values[key]
            let keyword = key.split(separator: " ").last.map(String.init) ?? key
            if old == new || (keyword != "default" && Self.areEqualNumbers(old, new)) { return nil }
            let sentence: String
            switch (old, new) {
            case (nil, let new?): sentence = "\(key) \(new) is new"
            case (let old?, nil): sentence = "\(key) \(old) was removed"
            case (let old, let new): sentence = "\(key) is \(new ?? "") instead of \(old ?? "")"
            }
            let prefix = String(key.dropLast(keyword.count))
            let isTighter =
                switch keyword {
                case "minimum", "exclusiveMinimum":
                    Self.isTighter(prefix + "minimum", prefix + "exclusiveMinimum", sign: 1, values, newer.values)
                case "maximum", "exclusiveMaximum":
                    Self.isTighter(prefix + "maximum", prefix + "exclusiveMaximum", sign: -1, values, newer.values)
                default: Self.isTighter(keyword, old, new)
                }
            return (PlainText.line(sentence), isTighter)
        }
    }

    /// Whether both texts are the same number, such as 1 and 1.0.
    private static func areEqualNumbers(_ old: String?, _ new: String?) -> Bool {
        guard let old = old.flatMap(Double.init), let new = new.flatMap(Double.init) else { return false }
        return old == new
    }

    /// Whether the newer of two bounds is tighter.
    ///
    /// - Parameter sign: 1 for the lower bound, −1 for the upper bound.
    private static func isTighter(
        _ inclusive: String,
        _ exclusive: String,
        sign: Double,
        _ old: [String: String],
        _ new: [String: String]
    ) -> Bool {
        /// The bound, multiplied with the sign, and 1 if it is excluded itself.
        func bound(_ values: [String: String]) -> (Double, Int) {
            let limits = [(inclusive, 0), (exclusive, 1)].compactMap { keyword, isExcluded in
                values[keyword].flatMap(Double.init).map { ($0 * sign, isExcluded) }
            }
            return limits.max { $0 < $1 } ?? (-.infinity, 0)
        }
        return bound(old) < bound(new)
    }

    private static func isTighter(_ keyword: String, _ old: String?, _ new: String?) -> Bool {
        guard let new else { return false }
        if keyword == "default" { return false }
        guard let old else { return true }
        guard let before = Double(old), let after = Double(new) else { return true }
        if lower.contains(keyword) { return after > before }
        if upper.contains(keyword) { return after < before }
        return true
    }
}
