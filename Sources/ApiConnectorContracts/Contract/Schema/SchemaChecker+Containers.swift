// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

// Keywords of arrays and objects.

extension SchemaChecker {
    func checkArray(_ elements: [JSONValue], _ step: Step, _ outcome: inout Outcome) {
        func check(_ index: Int, _ schema: JSONNode) -> Outcome {
            self.check(elements[index], at: step.path + ["\(index)"], against: schema, step.trail.inside)
        }
        let prefix = dialect == .draft2020 ? step.schema["prefixItems"]?.elements ?? [] : []
        for (index, schema) in prefix.enumerated() where index < elements.count {
            outcome.report(check(index, schema).violations)
            outcome.elements.insert(index)
        }
        if let items = step.schema["items"] {
            for index in elements.indices.dropFirst(prefix.count) {
                outcome.report(check(index, items).violations)
                outcome.elements.insert(index)
            }
        }
        outcome.report(countViolations(elements.count, "elements", "minItems", "maxItems", step))
        if step.schema["uniqueItems"]?.value.bool == true {
            // `==` is also true for texts that differ only in their code points, so it is only the first, fast test.
            var seen: Set<JSONValue> = []
            let index = elements.indices.first { index in
                !seen.insert(elements[index]).inserted
                    && elements[..<index].contains { $0.isSame(as: elements[index]) }
            }
            if let index {
                outcome.violations.append(step.violation("uniqueItems", "element \(index) is a duplicate"))
            }
        }
        guard dialect == .draft2020, let contains = step.schema["contains"] else { return }
        let found = elements.indices.filter { check($0, contains).isValid }
        outcome.elements.formUnion(found)
        let minimum = step.schema["minContains"]?.value.number?.double ?? 1
        let maximum = step.schema["maxContains"]?.value.number?.double ?? .infinity
        if Double(found.count) < minimum {
            outcome.violations.append(
                step.violation(
                    "contains",
                    "\(found.count) elements match, but at least "
                        + "\(step.schema["minContains"]?.value.description ?? "1") must"
                )
            )
        } else if Double(found.count) > maximum {
            outcome.violations.append(
                step.violation(
                    "maxContains",
                    "\(found.count) elements match, but at most "
                        + "\(step.schema["maxContains"]?.value.description ?? "") may"
                )
            )
        }
    }

    func checkObject(_ members: [String: JSONValue], _ step: Step, _ outcome: inout Outcome) {
        for key in step.schema["required"]?.value.array?.compactMap(\.string) ?? []
        where members[key] == nil && !isLeftOut(key, step) {
            outcome.violations.append(step.violation("required", "the member \"\(key)\" is missing"))
        }
        outcome.report(countViolations(members.count, "members", "minProperties", "maxProperties", step))
        let patterns = (dialect == .draft2020 ? step.schema["patternProperties"]?.members ?? [] : []).compactMap {
            member in SchemaPattern(member.key).map { (pattern: $0, schema: member.node) }
        }
        for (key, value) in members.sorted(by: { $0.key < $1.key }) {
            var schemas = patterns.filter { $0.pattern.matches(key) }.map(\.schema)
            if let property = step.schema["properties"]?[key] { schemas.append(property) }
            let isNamed = !schemas.isEmpty
            if !isNamed, let additional = step.schema["additionalProperties"] {
                if additional.value.bool == false {
                    outcome.violations.append(
                        step.violation("additionalProperties", "the member \"\(key)\" is not in the schema")
                    )
                    continue
                }
                schemas.append(additional)
            }
            for schema in schemas {
                let found = check(value, at: step.path + [key], against: schema, step.trail.inside)
                outcome.report(found.violations)
                outcome.members.insert(key)
            }
        }
        if dialect == .draft2020 { checkKeys(members, step, &outcome) }
    }

    private func checkKeys(_ members: [String: JSONValue], _ step: Step, _ outcome: inout Outcome) {
        if let names = step.schema["propertyNames"] {
            for key in members.keys.sorted() {
                let found = check(.string(key), at: step.path + [key], against: names, step.trail.inside)
                outcome.report(found.violations)
            }
        }
        for (key, needed) in step.schema["dependentRequired"]?.members ?? [] where members[key] != nil {
            for other in needed.value.array?.compactMap(\.string) ?? [] where members[other] == nil {
                outcome.violations.append(
                    step.violation(
                        "dependentRequired",
                        "the member \"\(other)\" is missing, and \"\(key)\" requires it"
                    )
                )
            }
        }
        for (key, schema) in step.schema["dependentSchemas"]?.members ?? [] where members[key] != nil {
            outcome.add(check(step.value, at: step.path, against: schema, step.trail.beside))
        }
    }

    private func countViolations(
        _ count: Int,
        _ things: String,
        _ minimum: String,
        _ maximum: String,
        _ step: Step
    ) -> [SchemaViolation] {
        if let least = step.schema[minimum]?.value.number, Double(count) < least.double {
            return [step.violation(minimum, "it has \(count) \(things), but at least \(least) are required")]
        }
        if let most = step.schema[maximum]?.value.number, Double(count) > most.double {
            return [step.violation(maximum, "it has \(count) \(things), but at most \(most) are allowed")]
        }
        return []
    }

    /// Whether a required member may be missing, because it is only for the other direction.
    ///
    /// The schema that describes the member may be another part of the same `allOf`.
    private func isLeftOut(_ key: String, _ step: Step) -> Bool {
        guard let direction else { return false }
        let keyword = direction == .request ? "readOnly" : "writeOnly"
        step.trail.run.dependentCount += 1
        let schemas = step.trail.schemas.flatMap { $0.combined(by: ["allOf"]) }
        return schemas.compactMap { $0["properties"]?[key] }.contains { property in
            property.isTrue(keyword) || property.resolved?.isTrue(keyword) == true
        }
    }
}
