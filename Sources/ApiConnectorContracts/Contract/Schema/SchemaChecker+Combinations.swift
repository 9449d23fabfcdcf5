// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

// Keywords that apply other schemas to the same value.

extension SchemaChecker {
    func checkCombinations(_ step: Step, _ outcome: inout Outcome) {
        func check(_ schema: JSONNode) -> Outcome {
            self.check(step.value, at: step.path, against: schema, step.trail.beside)
        }
        for part in step.schema["allOf"]?.elements ?? [] { outcome.add(check(part)) }
        if let any = step.schema["anyOf"]?.elements, !any.isEmpty {
            let outcomes = any.map(check)
            for valid in outcomes { outcome.addEvaluated(of: valid) }
            if !outcomes.contains(where: \.isValid) { outcome.report(unmet("anyOf", outcomes, step)) }
        }
        if let one = step.schema["oneOf"]?.elements, !one.isEmpty {
            let outcomes = one.map(check)
            let fitting = outcomes.indices.filter { outcomes[$0].isValid }
            if fitting.count == 1 {
                outcome.addEvaluated(of: outcomes[fitting[0]])
            } else if fitting.isEmpty {
                outcome.report(unmet("oneOf", outcomes, step))
            } else {
                let list = fitting.map(String.init).joined(separator: " and ")
                outcome.violations.append(step.violation("oneOf", "alternatives \(list) match, but only one may"))
            }
        }
        if let not = step.schema["not"], check(not).isValid {
            outcome.violations.append(step.violation("not", "it matches a forbidden schema"))
        }
        guard dialect == .draft2020, let condition = step.schema["if"] else { return }
        let met = check(condition)
        outcome.addEvaluated(of: met)
        if let branch = step.schema[met.isValid ? "then" : "else"] { outcome.add(check(branch)) }
    }

    /// The violations of a value that no alternative matches.
    ///
    /// They are those of an alternative if all of them are ignored.
    private func unmet(_ keyword: String, _ outcomes: [Outcome], _ step: Step) -> [SchemaViolation] {
        let accepting = outcomes.first { outcome in
            outcome.violations.allSatisfy { ignored.containsPointer($0.schema) }
        }
        return accepting?.violations ?? [step.unmet(keyword, outcomes)]
    }

    func checkUnevaluated(_ step: Step, _ outcome: inout Outcome) {
        guard dialect == .draft2020 else { return }
        if let rest = step.schema["unevaluatedProperties"], let members = step.value.object {
            for (key, value) in members.sorted(by: { $0.key < $1.key }) where !outcome.members.contains(key) {
                if rest.value.bool == false {
                    let sentence = "the member \"\(key)\" is not in the schema"
                    outcome.violations.append(step.violation("unevaluatedProperties", sentence))
                } else {
                    let found = check(value, at: step.path + [key], against: rest, step.trail.inside)
                    outcome.report(found.violations)
                }
                outcome.members.insert(key)
            }
        }
        if let rest = step.schema["unevaluatedItems"], let elements = step.value.array {
            for (index, value) in elements.enumerated() where !outcome.elements.contains(index) {
                let found = check(value, at: step.path + ["\(index)"], against: rest, step.trail.inside)
                outcome.report(found.violations)
                outcome.elements.insert(index)
            }
        }
    }
}

extension SchemaChecker.Step {
    /// The violation for a value that no alternative matches, with the violation of the nearest alternative.
    fileprivate func unmet(_ keyword: String, _ outcomes: [SchemaChecker.Outcome]) -> SchemaViolation {
        let alternatives = schema[keyword]?.elements ?? []
        let tagged = zip(alternatives, outcomes).first { isTagged($0.0) }?.1
        let nearest = (tagged ?? outcomes.max { rank(of: $0) < rank(of: $1) })?.violations.first
        guard let nearest else { return violation(keyword, "no alternative matches") }
        let place = nearest.value == path.pointer ? "" : "at \(nearest.value) "
        return violation(
            keyword,
            "no alternative matches; in the nearest one, \(place)\(nearest.sentence) (\(nearest.schema))"
        )
    }

    /// Whether the value's discriminator names an alternative.
    private func isTagged(_ alternative: JSONNode) -> Bool {
        guard let discriminator = schema["discriminator"], let name = discriminator.text("propertyName"),
            let tag = value.object?[name]?.string, let reference = alternative.text("$ref")
        else { return false }
        let wanted = discriminator["mapping"]?.text(tag) ?? tag
        return reference == wanted || reference.split(separator: "/").last.map(String.init) == wanted
    }

    /// How near an alternative is, as numbers of which the first ones count most.
    ///
    /// An alternative of another type, or with another constant in a member, is not meant. Among the others, the
    /// nearest one has the fewest violations, and then the deepest one.
    private func rank(of outcome: SchemaChecker.Outcome) -> (Int, Int, Int) {
        func depth(_ violation: SchemaViolation) -> Int { violation.value.split(separator: "/").count }
        let isMeant = !outcome.violations.contains { violation in
            let keyword = violation.schema.split(separator: "/").last
            return (keyword == "type" && depth(violation) == path.count)
                || ((keyword == "const" || keyword == "enum") && depth(violation) <= path.count + 1)
        }
        return (isMeant ? 1 : 0, -outcome.violations.count, outcome.violations.map(depth).max() ?? 0)
    }
}
