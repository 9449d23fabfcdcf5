// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Checks JSON against a schema of JSON Schema draft 2020-12 or of OpenAPI 3.0.
///
/// It ignores what it does not support: `$dynamicRef`, `$id`, `$vocabulary`, `contentSchema`, patterns that Swift's
/// `Regex` cannot parse, and each `format` other than `int32`, `int64` and those of ``SchemaFormat``. A reference to
/// another document is a violation.
struct SchemaChecker {
    /// The version of the rules for schemas.
    enum Dialect {
        /// Draft 2020-12, as in OpenAPI 3.1 and 3.2.
        case draft2020
        /// OpenAPI 3.0: it has `nullable` and a Boolean `exclusiveMinimum`, and ignores siblings of `$ref`.
        case openAPI30
    }

    /// The direction in which a body is sent.
    ///
    /// Required members that are only for the other direction may be missing.
    enum Direction {
        case request, response
    }

    var dialect = Dialect.draft2020
    /// The direction; nil if `readOnly` and `writeOnly` do not matter.
    var direction: Direction?
    /// Whether a value has to satisfy `format`, which is only an annotation in draft 2020-12.
    var checksFormats = false
    /// Whether an integer has to fit into 64 bits, as in Swift's `Int`, although no `format` says so.
    var limitsIntegers = false
    /// Whether violations omit the value, because it is a secret.
    var hidesValues = false
    /// The pointers of schemas and keywords whose violations are not reported, including everything inside them.
    var ignored: Set<String> = []
    /// The largest number of schemas that are checked for one value and its parts; with more, the value has a violation.
    ///
    /// Nested alternatives can double the number at each level.
    var maximumCount = 2_000_000

    /// The deepest nesting of values and schemas that is checked, so that a check does not exhaust the stack.
    static let maximumDepth = 256

    /// The keywords that a value does not satisfy; empty for a value that fits.
    func violations(of value: JSONValue, against schema: JSONNode, at path: [String] = []) -> [SchemaViolation] {
        let run = Run()
        let violations = check(value, at: path, against: schema, Trail(run: run)).violations
        guard run.count <= maximumCount else {
            let sentence =
                "the check takes too many steps, because the value is very large or the schema nests alternatives"
            return [SchemaViolation(schema: schema.pointer, value: path.pointer, sentence: sentence)]
        }
        return violations.filter { !ignored.containsPointer($0.schema) }
    }

    func accepts(_ value: JSONValue, _ schema: JSONNode) -> Bool {
        violations(of: value, against: schema).isEmpty
    }

    /// The steps by which a check has reached its schema.
    struct Trail {
        let run: Run
        var depth = 0
        /// The references that were followed since the check of this value began.
        var references: [String] = []
        /// The schemas that lead to this check, since the check of this value began; empty without a direction.
        var schemas: [JSONNode] = []

        /// The trail to another schema for the same value.
        var beside: Trail {
            var next = self
            next.depth += 1
            return next
        }

        /// The trail to a value within the value.
        var inside: Trail { Trail(run: run, depth: depth + 1) }

        /// The trail through a reference; nil if it was already followed for the same value.
        func following(_ pointer: String) -> Trail? {
            if references.contains(pointer) { return nil }
            var next = beside
            next.references.append(pointer)
            return next
        }
    }

    /// The check of one whole value.
    final class Run {
        struct Key: Hashable {
            let schema: String
            let value: [String]
        }

        /// The number of schemas that were checked so far.
        var count = 0
        /// The number of results so far that depend on the schemas that led to them, such as the result of a reference
        /// back to one of these schemas.
        var dependentCount = 0
        /// The results of references, so that nested alternatives do not check the same part again and again.
        ///
        /// Only a long check keeps results.
        var outcomes: [Key: Outcome] = [:]

        static let shortCount = 5_000
        static let maximumOutcomeCount = 100_000
    }

    /// The result of checking one value against one schema.
    struct Outcome {
        var violations: [SchemaViolation] = []
        /// The members that a keyword has evaluated, for `unevaluatedProperties`.
        var members: Set<String> = []
        /// The elements that a keyword has evaluated, for `unevaluatedItems`.
        var elements: Set<Int> = []

        var isValid: Bool { violations.isEmpty }

        mutating func add(_ other: Outcome) {
            report(other.violations)
            addEvaluated(of: other)
        }

        /// Adds violations, up to 1,000 in total, because nested schemas can repeat the same ones any number of times.
        mutating func report(_ found: [SchemaViolation]) {
            violations += found.prefix(max(1_000 - violations.count, 0))
        }

        /// Adds the members and elements that a valid subschema evaluated.
        mutating func addEvaluated(of other: Outcome) {
            guard other.isValid else { return }
            members.formUnion(other.members)
            elements.formUnion(other.elements)
        }
    }

    /// One value and one object of keywords.
    struct Step {
        let value: JSONValue
        let path: [String]
        let schema: JSONNode
        let trail: Trail
        let hidesValue: Bool

        /// The value in a sentence: the value itself if it is short and not a secret; otherwise its type.
        ///
        /// An array or an object may contain a secret.
        var shown: String {
            let isSecret =
                hidesValue || schema.text("format") == "password"
                || path.contains { Redactor.standard.isSecret(field: $0) }
            guard !isSecret, value.array == nil, value.object == nil else { return value.typeName }
            let text = value.description
            return text.count <= 40 ? text : value.typeName
        }

        func violation(_ keyword: String, _ sentence: String) -> SchemaViolation {
            SchemaViolation(
                schema: schema.pointer + [keyword].pointer,
                value: path.pointer,
                sentence: sentence
            )
        }
    }

    func check(_ value: JSONValue, at path: [String], against schema: JSONNode, _ trail: Trail) -> Outcome {
        var trail = trail
        if direction != nil { trail.schemas.append(schema) }
        func failed(_ sentence: String) -> Outcome {
            Outcome(violations: [SchemaViolation(schema: schema.pointer, value: path.pointer, sentence: sentence)])
        }
        if schema.value.bool == false { return failed("no value is allowed") }
        guard schema.value.object != nil else { return Outcome() }
        guard trail.depth < Self.maximumDepth else {
            trail.run.dependentCount += 1
            return failed("the value and its schema are nested deeper than \(Self.maximumDepth) levels")
        }
        trail.run.count += 1
        guard trail.run.count <= maximumCount else { return Outcome() }
        let step = Step(value: value, path: path, schema: schema, trail: trail, hidesValue: hidesValues)
        var outcome = Outcome()
        if schema.value.object?["$ref"]?.string != nil {
            outcome.add(checkReference(step))
            if dialect == .openAPI30 { return outcome }
        }
        if dialect == .openAPI30, value.isNull, schema.isTrue("nullable") { return outcome }
        outcome.report(generalViolations(step))
        switch value {
        case .number(let number): outcome.report(violations(of: number, step))
        case .string(let text): outcome.report(violations(of: text, step))
        case .array(let elements): checkArray(elements, step, &outcome)
        case .object(let members): checkObject(members, step, &outcome)
        case .null, .bool: break
        }
        checkCombinations(step, &outcome)
        checkUnevaluated(step, &outcome)
        return outcome
    }

    private func checkReference(_ step: Step) -> Outcome {
        let reference = step.schema.text("$ref") ?? ""
        guard let target = step.schema.document.target(of: reference) else {
            return Outcome(violations: [step.violation("$ref", "the schema \(reference) is not in the document")])
        }
        let run = step.trail.run
        guard let trail = step.trail.following(target.pointer) else {
            run.dependentCount += 1
            return Outcome(violations: [step.violation("$ref", "the schema \(reference) refers only to itself")])
        }
        guard run.count > Run.shortCount else { return check(step.value, at: step.path, against: target, trail) }
        let key = Run.Key(schema: target.pointer, value: step.path)
        if let known = run.outcomes[key] { return known }
        let dependentCount = run.dependentCount
        let outcome = check(step.value, at: step.path, against: target, trail)
        // Another way to the same schema can have another result only if there was such a result.
        if run.dependentCount == dependentCount, run.outcomes.count < Run.maximumOutcomeCount {
            run.outcomes[key] = outcome
        }
        return outcome
    }

    // MARK: - Any value

    private func generalViolations(_ step: Step) -> [SchemaViolation] {
        var violations: [SchemaViolation] = []
        let types = step.schema.types
        if !types.isEmpty, !types.contains(where: { step.value.isOfType($0) }) {
            let wanted = types.joined(separator: " or ")
            violations.append(
                step.violation("type", "it is \(step.value.typeName), but the schema requires \(wanted)")
            )
        }
        if let values = step.schema["enum"]?.value.array, !values.contains(where: { $0.isSame(as: step.value) }) {
            let list = values.prefix(8).map(\.description).joined(separator: ", ") + (values.count > 8 ? ", …" : "")
            violations.append(step.violation("enum", "it is \(step.shown), but the schema requires one of \(list)"))
        }
        if let only = step.schema.value.object?["const"], !only.isSame(as: step.value) {
            violations.append(step.violation("const", "it is \(step.shown), but the schema requires \(only)"))
        }
        return violations
    }
}

extension JSONValue {
    fileprivate func isOfType(_ name: String) -> Bool {
        switch self {
        case .null: name == "null"
        case .bool: name == "boolean"
        case .number(let number): name == "number" || (name == "integer" && number.isWhole)
        case .string: name == "string"
        case .array: name == "array"
        case .object: name == "object"
        }
    }

    /// Whether both are the same JSON.
    ///
    /// In contrast to `==`, texts with different code points are different.
    func isSame(as other: JSONValue) -> Bool {
        switch (self, other) {
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.isSame(as: $1) }
        case (.object(let left), .object(let right)):
            left.count == right.count && left.allSatisfy { key, value in right[key]?.isSame(as: value) == true }
        default: self == other
        }
    }

    /// The value's type, with an article.
    var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "a Boolean"
        case .number(let number): number.isWhole ? "an integer" : "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension JSONNumber {
    /// Whether the number is an integer, however it is written.
    var isWhole: Bool { integer(as: Int64.self) != nil || double.rounded() == double }
}

extension Set<String> {
    /// Whether the set has a JSON pointer, or the pointer of a value that contains the place of the pointer.
    func containsPointer(_ pointer: String) -> Bool {
        contains { pointer == $0 || pointer.hasPrefix($0 + "/") }
    }
}
