// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

@testable import ApiConnectorTesting

/// Reads a printed line as Swift does, as far as such lines go.
struct LineReader {
    private var rest: Substring.UnicodeScalarView

    private init(_ text: String) {
        rest = text[...].unicodeScalars
    }

    /// The matchers of a whole line; nil where it is no such line.
    static func matchers(of text: String) -> [RequestMatcher]? {
        var reader = LineReader(text)
        return reader.line()
    }

    private mutating func line() -> [RequestMatcher]? {
        guard take("script.on(matching: ") else { return nil }
        var matchers: [RequestMatcher] = []
        repeat {
            guard let matcher = matcher() else { return nil }
            matchers.append(matcher)
        } while take(", ")
        return take(").answer(.status(200))") && rest.isEmpty ? matchers : nil
    }

    private mutating func matcher() -> RequestMatcher? {
        guard take(".") else { return nil }
        let name = takeWhile { $0 != "(" }
        guard take("(") else { return nil }
        let matcher: RequestMatcher?
        switch name {
        case "method": matcher = method().map { .method($0) }
        case "path": matcher = string().map { .path($0) }
        case "query":
            guard let name = string(), take(", "), let value = string() else { return nil }
            matcher = .query(name, value)
        case "json": matcher = value().map { .json($0) }
        case "form": matcher = value()?.object.map { .form($0.compactMapValues(\.string)) }
        default: matcher = nil
        }
        return take(")") ? matcher : nil
    }

    private mutating func method() -> HTTPMethod? {
        guard take(".") else { return string().map { HTTPMethod(rawValue: $0) } }
        let name = takeWhile { $0 != ")" }
        return ["get", "head", "post", "put", "patch", "delete", "options", "trace"].contains(name)
            ? HTTPMethod(rawValue: name.uppercased()) : nil
    }

    private mutating func value() -> JSONValue? {
        if rest.first == "\"" { return string().map { .string($0) } }
        if take("nil") { return .null }
        if take("true") { return true }
        if take("false") { return false }
        if take("[:]") { return [:] }
        if take("[]") { return [] }
        guard take("[") else {
            let number = takeWhile { !",]:)".unicodeScalars.contains($0) }
            if let whole = Int128(number) { return JSONValue(integerLiteral: whole) }
            return Double(number).map { JSONValue(floatLiteral: $0) }
        }
        var values: [JSONValue] = [], fields: [(String, JSONValue)] = []
        repeat {
            guard let first = value() else { return nil }
            if take(": ") {
                guard case .string(let key) = first, let value = value() else { return nil }
                fields.append((key, value))
            } else {
                values.append(first)
            }
        } while take(", ")
        guard take("]"), values.isEmpty != fields.isEmpty else { return nil }
        // As Swift's dictionaries of texts do, a key that repeats is a mistake.
        guard Set(fields.map(\.0)).count == fields.count else { return nil }
        return fields.isEmpty ? .array(values) : .object(Dictionary(fields) { first, _ in first })
    }

    private mutating func string() -> String? {
        guard take("\"") else { return nil }
        var text = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\"": return String(text)
            case "\n", "\r": return nil
            case "\\":
                switch rest.popFirst() {
                case "n": text.append("\n")
                case "r": text.append("\r")
                case "t": text.append("\t")
                case "0": text.append("\0")
                case "\"": text.append("\"")
                case "'": text.append("'")
                case "\\": text.append("\\")
                case "u":
                    guard take("{") else { return nil }
                    let digits = takeWhile { $0 != "}" }
                    guard take("}"), let scalar = UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init) else {
                        return nil
                    }
                    text.append(scalar)
                default: return nil
                }
            default: text.append(scalar)
            }
        }
        return nil
    }

    private mutating func take(_ text: String) -> Bool {
        guard rest.starts(with: text.unicodeScalars) else { return false }
        rest.removeFirst(text.unicodeScalars.count)
        return true
    }

    private mutating func takeWhile(_ isMeant: (Unicode.Scalar) -> Bool) -> String {
        let prefix = rest.prefix(while: isMeant)
        rest.removeFirst(prefix.count)
        return String(String.UnicodeScalarView(prefix))
    }
}
