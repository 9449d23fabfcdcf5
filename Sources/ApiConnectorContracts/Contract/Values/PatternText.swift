// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting

/// Makes a text that a simple regular expression matches.
///
/// It supports literals, classes, groups, alternatives and quantifiers. For any other expression the text is a guess,
/// which the caller must check.
struct PatternText {
    private let scalars: [Unicode.Scalar]
    private var index = 0
    private let minimum: Int
    /// The number of groups around the current part.
    private var depth = 0
    /// The number of parts that may still be written, so that nested quantifiers end.
    private var budget = 20_000

    /// A text that matches a pattern: a short one, or a longer one if it has to have at least `minimum` scalars.
    static func text(for pattern: String, minimum: Int, using random: inout KeyedRandom) -> String {
        var parser = PatternText(scalars: Array(pattern.unicodeScalars), minimum: min(minimum, 10_000))
        return parser.alternatives(&random)
    }

    private init(scalars: [Unicode.Scalar], minimum: Int) {
        self.scalars = scalars
        self.minimum = minimum
    }

    private var current: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard current == scalar else { return false }
        index += 1
        return true
    }

    /// Reads up to the end of a group, and returns a text for one alternative.
    private mutating func alternatives(_ random: inout KeyedRandom) -> String {
        var texts = [sequence(&random)]
        while take("|") { texts.append(sequence(&random)) }
        return texts[random.next(below: texts.count)]
    }

    private mutating func sequence(_ random: inout KeyedRandom) -> String {
        var text = ""
        while let scalar = current, scalar != "|", scalar != ")" {
            let start = index
            let first = atom(&random)
            guard let (low, high) = quantifier() else {
                text += first
                continue
            }
            // Repeats the part as often as the minimum length requires, otherwise as rarely as allowed. An optional
            // part is sometimes left out.
            let needed = high > 1 ? max(minimum - text.unicodeScalars.count, 0) : 0
            let count = min(max(low, low == 0 ? random.next(below: 2) : low, min(needed, 10_000)), high)
            let next = index
            for number in 0..<count {
                if budget <= 0 { break }
                if number == 0 {
                    text += first
                } else {
                    index = start
                    text += atom(&random)
                }
            }
            index = next
        }
        return text
    }

    private mutating func quantifier() -> (low: Int, high: Int)? {
        defer { if current == "?" || current == "+" { index += 1 } }
        if take("*") { return (0, .max) }
        if take("+") { return (1, .max) }
        if take("?") { return (0, 1) }
        guard current == "{", let close = scalars[index...].firstIndex(of: "}") else { return nil }
        let body = String(String.UnicodeScalarView(scalars[(index + 1)..<close]))
        let parts = body.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
        guard let first = parts.first, let low = first, low >= 0 else { return nil }
        let high = parts.count == 1 ? low : parts[1] ?? .max
        guard high >= low else { return nil }
        index = close + 1
        return (low, high)
    }

    private mutating func atom(_ random: inout KeyedRandom) -> String {
        guard let scalar = current else { return "" }
        index += 1
        budget -= 1
        switch scalar {
        case "^", "$": return ""
        case ".": return "a"
        case "(": return group(&random)
        case "[": return pick(set(), &random)
        case "\\": return pick(escape(), &random)
        default: return String(Character(scalar))
        }
    }

    private mutating func group(_ random: inout KeyedRandom) -> String {
        guard depth < 100 else {
            index = scalars.count
            return ""
        }
        depth += 1
        defer { depth -= 1 }
        var isAssertion = false
        if take("?") {
            if !take(":") {
                isAssertion = current == "=" || current == "!"
                if current == "<" {
                    isAssertion = index + 1 < scalars.count && "=!".unicodeScalars.contains(scalars[index + 1])
                }
                while let scalar = current, !isAssertion, scalar != ">" { _ = take(scalar) }
                index = Swift.min(index + 1, scalars.count)
            }
        }
        let text = alternatives(&random)
        _ = take(")")
        return isAssertion ? "" : text
    }

    private func pick(_ set: [Unicode.Scalar], _ random: inout KeyedRandom) -> String {
        set.isEmpty ? "" : String(Character(set[random.next(below: set.count)]))
    }

    private static let digits = Array("0123456789".unicodeScalars)
    private static let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".unicodeScalars)
    private static let ascii = (0x20...0x7E).compactMap { Unicode.Scalar($0 as Int) }

    /// The scalars of an escape, after the backslash.
    private mutating func escape() -> [Unicode.Scalar] {
        guard let scalar = current else { return [] }
        index += 1
        switch scalar {
        case "d": return Self.digits
        case "w": return Self.letters + Self.digits
        case "s": return [" "]
        case "D", "S", "W": return scalar == "W" ? ["-"] : Self.letters
        case "b", "B", "A", "z", "Z": return []
        case "n": return ["\n"]
        case "t": return ["\t"]
        case "r": return ["\r"]
        case "p", "P":
            while let next = current, next != "}" { _ = take(next) }
            index = Swift.min(index + 1, scalars.count)
            return Self.letters
        case "x", "u":
            let count = scalar == "x" ? 2 : 4
            let digits = String(String.UnicodeScalarView(scalars[index...].prefix(count)))
            guard let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value) else { return [] }
            index += count
            return [scalar]
        default: return [scalar]
        }
    }

    /// The scalars of a class, after the opening bracket.
    private mutating func set() -> [Unicode.Scalar] {
        let isNegated = take("^")
        var set: [Unicode.Scalar] = []
        while let scalar = current, scalar != "]" {
            index += 1
            let found = scalar == "\\" ? escape() : [scalar]
            if current == "-", index + 1 < scalars.count, scalars[index + 1] != "]", let low = found.first,
                found.count == 1
            {
                index += 1
                let end = scalars[index]
                index += 1
                let high = end == "\\" ? escape().first ?? low : end
                guard low <= high else { continue }
                set += (low.value...Swift.min(high.value, low.value + 200)).compactMap(Unicode.Scalar.init)
            } else {
                set += found
            }
        }
        _ = take("]")
        // Letters and digits are preferred, because they satisfy most other checks of the text.
        let plain = (isNegated ? Self.ascii : set).filter { !isNegated || !set.contains($0) }
        let simple = plain.filter { $0.properties.isAlphabetic || Self.digits.contains($0) }
        return simple.isEmpty ? plain : simple
    }
}
