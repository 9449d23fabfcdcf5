// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

/// Makes values that a schema accepts.
///
/// The same seed always gives the same values.
struct SchemaValues {
    let checker: SchemaChecker
    var random: KeyedRandom

    /// From this depth on, optional members and elements are left out.
    private static let fullDepth = 3
    private static let maximumDepth = 24
    /// The largest number of values in a generated value.
    private static let maximumCount = 5_000

    /// The number of values that may still be generated in this attempt.
    private var budget = 0
    /// The violation of a generated value that its schema does not accept; nil if there is no such value.
    private(set) var flaw: SchemaViolation?

    init(checker: SchemaChecker, random: KeyedRandom) {
        self.checker = checker
        self.random = random
    }

    /// Accepts an example only if clients can decode it.
    ///
    /// Tools that know only `Double` write 9223372036854776000 for the largest integer of 64 bits.
    private var exampleChecker: SchemaChecker {
        var checker = checker
        checker.limitsIntegers = true
        return checker
    }

    /// A value for a schema: its example if the schema accepts it, otherwise a generated value.
    ///
    /// If no attempt makes a value that the schema accepts, the last attempt is returned, and ``flaw`` says why.
    mutating func value(for schema: JSONNode?, examples: [JSONValue] = []) -> JSONValue {
        guard let schema else { return examples.first ?? .object([:]) }
        if let example = examples.first(where: { exampleChecker.accepts($0, schema) }) { return example }
        var last = JSONValue.null
        var violations: [SchemaViolation] = []
        for attempt in 0..<8 {
            budget = Self.maximumCount
            last = value([schema], depth: 0, attempt: attempt)
            violations = checker.violations(of: last, against: schema)
            if violations.isEmpty { return last }
        }
        flaw = flaw ?? violations.first
        return last
    }

    /// A value that satisfies several schemas at the same time.
    private mutating func value(_ schemas: [JSONNode], depth: Int, attempt: Int) -> JSONValue {
        guard depth < Self.maximumDepth, budget > 0 else { return .null }
        budget -= 1
        let merged = MergedSchema(schemas, checker, choice: attempt, isDeep: depth >= Self.fullDepth)
        if let only = merged.constant { return only }
        if let values = merged.allowed, !values.isEmpty { return pick(values) }
        if attempt < 4, let example = merged.example, schemas.allSatisfy({ exampleChecker.accepts(example, $0) }) {
            return example
        }
        switch merged.type {
        case "object": return object(merged, depth, attempt)
        case "array": return array(merged, depth, attempt)
        case "integer": return .number(JSONNumber(integer(merged)))
        case "number": return number(merged)
        case "boolean": return .bool(random.next(below: 2) == 0)
        case "null": return .null
        default: return .string(text(merged))
        }
    }

    private mutating func pick(_ values: [JSONValue]) -> JSONValue {
        let others = values.filter { !$0.isNull }
        return others.isEmpty ? .null : others[random.next(below: others.count)]
    }

    // MARK: - Containers

    private mutating func object(_ merged: MergedSchema, _ depth: Int, _ attempt: Int) -> JSONValue {
        var members: [String: JSONValue] = [:]
        for key in merged.properties.keys.sorted() {
            let schemas = merged.properties[key] ?? []
            let isNeeded = merged.required.contains(key)
            guard isNeeded || (depth < Self.fullDepth && attempt < 6) else { continue }
            let other = checker.direction == .request ? "readOnly" : "writeOnly"
            if schemas.contains(where: { $0.isTrue(other) || $0.resolved?.isTrue(other) == true }) { continue }
            members[key] = value(schemas, depth: depth + 1, attempt: attempt)
        }
        for key in merged.required.sorted() where members[key] == nil && merged.properties[key] == nil {
            members[key] = merged.additional.map { value([$0], depth: depth + 1, attempt: attempt) } ?? .string("value")
        }
        for (key, value) in merged.forced { members[key] = value }
        let wanted = min(
            max(
                merged.count("minProperties") ?? 0,
                merged.properties.isEmpty && merged.additional != nil ? 1 : 0
            ),
            1_000
        )
        guard depth < Self.fullDepth || merged.count("minProperties") != nil else { return .object(members) }
        for number in 1...max(wanted, 1) where members.count < wanted {
            members["key\(number)"] =
                merged.additional.map { value([$0], depth: depth + 1, attempt: attempt) } ?? .string("value")
        }
        return .object(members)
    }

    private mutating func array(_ merged: MergedSchema, _ depth: Int, _ attempt: Int) -> JSONValue {
        var elements: [JSONValue] = []
        for schema in merged.prefix { elements.append(value([schema], depth: depth + 1, attempt: attempt)) }
        let minimum = merged.count("minItems") ?? 0
        let maximum = merged.count("maxItems") ?? .max
        let wanted = max(min(max(minimum, depth < Self.fullDepth ? 1 : 0), maximum, 1_000), 0)
        for number in 0..<(wanted * 4) where elements.count < wanted {
            let element =
                merged.items.isEmpty
                ? .string("value \(number)") : value(merged.items, depth: depth + 1, attempt: attempt + number)
            if !merged.isUnique || !elements.contains(element) { elements.append(element) }
        }
        return .array(elements)
    }

    // MARK: - Numbers

    private mutating func integer(_ merged: MergedSchema) -> Int64 {
        let low = merged.lowest.map { $0.rounded(.up) + (merged.excludesLowest && $0.rounded(.up) == $0 ? 1 : 0) }
        let high = merged.highest.map {
            $0.rounded(.down) - (merged.excludesHighest && $0.rounded(.down) == $0 ? 1 : 0)
        }
        let start = low ?? high.map { min($0, 1) } ?? 1
        let end = min(high ?? start + 99, start + 99)
        var number = Int64(exactly: start) ?? 1
        if end > start { number += Int64(random.next(below: Int(end - start) + 1)) }
        if let step = merged.number("multipleOf").flatMap({ Int64(exactly: $0) }), step > 0 {
            // The next multiple, or the one before it if the next one is too large.
            let remainder = number % step
            let rest = remainder < 0 ? remainder + step : remainder
            let (before, isTooSmall) = number.subtractingReportingOverflow(rest)
            let (next, isTooLarge) = number.addingReportingOverflow(rest > 0 ? step - rest : 0)
            if !isTooLarge, Double(next) <= high ?? .infinity {
                number = next
            } else if !isTooSmall {
                number = before
            }
        }
        return number
    }

    private mutating func number(_ merged: MergedSchema) -> JSONValue {
        if let step = merged.number("multipleOf"), step > 0 {
            var count = 1.0
            if let lowest = merged.lowest {
                count = (lowest / step).rounded(.up)
                if merged.excludesLowest, count * step == lowest { count += 1 }
            } else if let highest = merged.highest {
                count = min((highest / step).rounded(.down), 1)
                if merged.excludesHighest, count * step == highest { count -= 1 }
            }
            guard count.isFinite else { return .null }
            // Three times 0.1 is not 0.3 in binary digits.
            let product = Decimal(string: "\(step)").map { $0 * Decimal(count) }
            return (product.flatMap(JSONNumber.init) ?? JSONNumber(count * step)).map(JSONValue.number) ?? .null
        }
        let low = merged.lowest ?? min(merged.highest ?? 1, 1)
        let high = merged.highest ?? low + 100
        let part = Double(random.next(below: 98) + 1) / 100
        let value = low + (high - low) * part
        return JSONNumber((value * 100).rounded() / 100 > low ? (value * 100).rounded() / 100 : value)
            .map(JSONValue.number) ?? .null
    }

    // MARK: - Texts

    private mutating func text(_ merged: MergedSchema) -> String {
        let minimum = merged.count("minLength") ?? 0
        let maximum = merged.count("maxLength") ?? .max
        if let pattern = merged.pattern {
            for _ in 0..<8 {
                let text = PatternText.text(for: pattern, minimum: minimum, using: &random)
                if text.unicodeScalars.count >= minimum, text.unicodeScalars.count <= maximum,
                    SchemaPattern(pattern)?.matches(text) != false
                {
                    return text
                }
            }
        }
        if let text = formatted(merged.format ?? ""), text.count >= minimum, text.count <= maximum { return text }
        var text = Self.words[random.next(below: Self.words.count)]
        while text.count < min(minimum, 100_000) { text += "-" + Self.words[random.next(below: Self.words.count)] }
        return String(text.prefix(max(maximum, 0)))
    }

    private static let words = [
        "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "ivory", "juniper", "kelp", "lotus",
    ]

    private mutating func formatted(_ format: String) -> String? {
        func digits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let (month, day, hour) = (1 + random.next(below: 12), 1 + random.next(below: 28), random.next(below: 24))
        let date = "2024-\(digits(month))-\(digits(day))"
        switch format {
        case "date-time": return "\(date)T\(digits(hour)):30:00Z"
        case "date": return date
        case "time": return "\(digits(hour)):30:00Z"
        case "duration": return "PT\(1 + hour)H"
        case "uuid":
            let (high, low) = (random.next(), random.next())
            let text = [high, low].map { String(String($0, radix: 16).reversed() + "0000000000000000").prefix(16) }
                .joined()
            let cuts = [0, 8, 12, 16, 20, 32]
            let characters = Array(text)
            return zip(cuts, cuts.dropFirst()).map { String(characters[$0..<$1]) }.joined(separator: "-")
        case "uri", "url", "iri", "uri-reference", "iri-reference", "uri-template":
            return "https://example.com/\(Self.words[random.next(below: Self.words.count)])"
        case "email", "idn-email": return "\(Self.words[random.next(below: Self.words.count)])@example.com"
        case "hostname", "idn-hostname": return "\(Self.words[random.next(below: Self.words.count)]).example.com"
        case "ipv4": return "192.0.2.\(1 + random.next(below: 250))"
        case "ipv6": return "2001:db8::\(1 + random.next(below: 250))"
        case "byte", "base64", "base64url": return "YW1iZXI="
        case "decimal", "number", "double", "float": return "\(1 + hour).5"
        case "int32", "int64", "integer", "snowflake": return "\(1 + random.next(below: 1_000_000))"
        default: return nil
        }
    }
}
