// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

// Keywords of numbers and strings.

extension SchemaChecker {
    func violations(of number: JSONNumber, _ step: Step) -> [SchemaViolation] {
        var violations: [SchemaViolation] = []
        func bound(_ keyword: String, _ words: String, _ isMet: (JSONNumber, JSONNumber) -> Bool) {
            guard let limit = step.schema[keyword]?.value.number, !isMet(number, limit) else { return }
            violations.append(step.violation(keyword, "\(step.shown) is not \(words) \(limit)"))
        }
        // In OpenAPI 3.0 `exclusiveMinimum` is a Boolean.
        let isAbove = dialect == .openAPI30 && step.schema["exclusiveMinimum"]?.value.bool == true
        let isBelow = dialect == .openAPI30 && step.schema["exclusiveMaximum"]?.value.bool == true
        bound("minimum", isAbove ? "above" : "at least") { isAbove ? $1.isLess(than: $0) : !$0.isLess(than: $1) }
        bound("maximum", isBelow ? "below" : "at most") { isBelow ? $0.isLess(than: $1) : !$1.isLess(than: $0) }
        bound("exclusiveMinimum", "above") { $1.isLess(than: $0) }
        bound("exclusiveMaximum", "below") { $0.isLess(than: $1) }
        bound("multipleOf", "a multiple of") { $0.isMultiple(of: $1) }
        if checksFormats, let format = step.schema["format"]?.value.string {
            let isMet =
                switch format {
                case "int32": number.integer(as: Int32.self) != nil
                case "int64": number.integer(as: Int64.self) != nil
                default: true
                }
            if !isMet { violations.append(step.violation("format", "\(step.shown) is not \(format)")) }
        }
        if limitsIntegers, step.schema.types.contains("integer"), !step.schema.types.contains("number"),
            step.schema.text("format") != "uint64", number.integer(as: Int64.self) == nil
        {
            violations.append(step.violation("type", "\(step.shown) does not fit into 64 bits"))
        }
        return violations
    }

    func violations(of text: String, _ step: Step) -> [SchemaViolation] {
        var violations: [SchemaViolation] = []
        // JSON Schema counts code points.
        let count = text.unicodeScalars.count
        if let minimum = step.schema["minLength"]?.value.number, Double(count) < minimum.double {
            violations.append(
                step.violation("minLength", "it has \(count) characters, but at least \(minimum) are required")
            )
        }
        if let maximum = step.schema["maxLength"]?.value.number, Double(count) > maximum.double {
            violations.append(
                step.violation("maxLength", "it has \(count) characters, but at most \(maximum) are allowed")
            )
        }
        if let pattern = step.schema["pattern"]?.value.string, SchemaPattern(pattern)?.matches(text) == false {
            violations.append(step.violation("pattern", "\(step.shown) does not match \(pattern)"))
        }
        if checksFormats, let name = step.schema["format"]?.value.string, let format = SchemaFormat(rawValue: name),
            !format.fits(text)
        {
            violations.append(step.violation("format", "\(step.shown) is not a \(name)"))
        }
        if checksFormats, step.schema.text("contentEncoding") == "base64", !SchemaFormat.byte.fits(text) {
            violations.append(step.violation("contentEncoding", "\(step.shown) is not base64"))
        }
        return violations
    }
}

extension JSONNumber {
    func isLess(than other: JSONNumber) -> Bool {
        if let left = decimal, let right = other.decimal { return left < right }
        return double < other.double
    }

    fileprivate func isMultiple(of other: JSONNumber) -> Bool {
        if let left = integer(as: Int64.self), let right = other.integer(as: Int64.self), right > 0 {
            return left % right == 0
        }
        if let left = decimal, let right = other.decimal, right != 0, left.magnitude < 1e18, right.magnitude > 1e-18 {
            // 38 digits of a quotient are enough for the numbers in real documents.
            var quotient = left / right
            var whole = Decimal()
            NSDecimalRound(&whole, &quotient, 0, .plain)
            return whole * right == left
        }
        let quotient = double / other.double
        return quotient.isFinite && quotient.rounded() == quotient
    }
}
