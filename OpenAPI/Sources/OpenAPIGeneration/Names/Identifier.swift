// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Makes Swift identifiers from a document's names.
///
/// A document's names are untrusted. Only characters that Unicode allows in identifiers are kept.
enum Identifier {
    /// The name of a member: `created_at` becomes `createdAt`, `userID` stays `userID`, and `HTML-URL` becomes
    /// `htmlURL`.
    static func member(_ text: String) -> String {
        let words = words(of: text)
        guard let first = words.first else { return "value" }
        let rest = words.dropFirst().map(capitalized)
        return protected(([first.lowercased()] + rest).joined())
    }

    /// The name of a type: `issue-comment` becomes `IssueComment`.
    static func type(_ text: String) -> String {
        let name = words(of: text).map(capitalized).joined()
        if name.isEmpty { return "Value" }
        return startsLegally(name) ? name : "Type" + name
    }

    /// The identifier as code: in backticks if it is a keyword.
    static func escaped(_ name: String) -> String {
        keywords.contains(name) ? "`\(name)`" : name
    }

    /// Whether a name that the caller chose can be the name of a type, or a part of it.
    static func isTypeName(_ name: String) -> Bool {
        startsLegally(name) && name.unicodeScalars.allSatisfy(\.properties.isXIDContinue) && !keywords.contains(name)
    }

    /// A name that has no other meaning in an expression.
    private static func protected(_ name: String) -> String {
        if impossible.contains(name) { return name + "Value" }
        return startsLegally(name) ? name : "value" + name
    }

    private static func startsLegally(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first else { return false }
        return first.properties.isXIDStart
    }

    /// Splits a name into words.
    ///
    /// A word ends:
    /// - at a character that cannot be in an identifier,
    /// - between a lowercase and an uppercase letter,
    /// - before the last of several uppercase letters, if a lowercase letter follows.
    static func words(of text: String) -> [String] {
        var words: [String] = []
        var word: [Unicode.Scalar] = []
        var pending: [Unicode.Scalar] = []
        func isUpper(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isUppercase }
        func isLower(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isLowercase }
        func finish() {
            if !word.isEmpty { words.append(String(String.UnicodeScalarView(word))) }
            word = []
        }
        pending = Array(spelled(text).unicodeScalars)
        for (index, scalar) in pending.enumerated() {
            guard scalar != "_", scalar.properties.isXIDContinue else {
                finish()
                continue
            }
            if let last = word.last, isUpper(scalar) {
                let next = index + 1 < pending.count ? pending[index + 1] : nil
                // The plural of an acronym, `IDs`, is one word.
                let isPlural =
                    next == "s" && (index + 2 == pending.count || !isLower(pending[index + 2])) && isUpper(last)
                if !isUpper(last) || (next.map(isLower) == true && !isPlural) { finish() }
            }
            word.append(scalar)
        }
        finish()
        return words
    }

    /// Replaces signs by words, because signs may distinguish names: `+1`, `-1`, `created_at<`, `*`.
    private static func spelled(_ text: String) -> String {
        var result = ""
        let scalars = Array(text.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            let isFirst = index == 0
            switch scalar {
            case "+" where isFirst: result += "plus "
            case "-" where isFirst && scalars.count > 1: result += "minus "
            case "*" where scalars.count == 1: result += "all"
            case "<": result += " less "
            case ">": result += " greater "
            case "=": result += " equal "
            case "!" where isFirst: result += "not "
            case "/" where scalars.count == 1: result += "slash"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func capitalized(_ word: String) -> String {
        let lower = word.lowercased()
        if let acronym = acronyms[lower] { return acronym }
        let isShout = word.count > 1 && word.allSatisfy { $0.isUppercase || $0.isNumber }
        let rest = isShout ? String(lower.dropFirst()) : String(word.dropFirst())
        return word.prefix(1).uppercased() + rest
    }

    private static let acronyms: [String: String] = {
        let words = [
            "api", "css", "csv", "dns", "gpg", "html", "http", "https", "id", "ip", "json", "pdf", "rsa", "sdk", "sha",
            "sql", "ssh", "ssl", "tls", "uri", "url", "utc", "uuid", "xml",
        ]
        var acronyms = Dictionary(uniqueKeysWithValues: words.map { ($0, $0.uppercased()) })
        for plural in ["api", "id", "ip", "uri", "url", "uuid"] { acronyms[plural + "s"] = plural.uppercased() + "s" }
        return acronyms
    }()

    /// Names that cannot be used everywhere, even in backticks.
    private static let impossible: Set<String> = ["self", "init", "protocol", "none"]

    private static let keywords: Set<String> = [
        "Any", "Self", "as", "associatedtype", "await", "break", "case", "catch",
        "class", "continue", "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false",
        "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let", "nil",
        "operator", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "self",
        "static",
        "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where",
        "while",
    ]
}

extension Identifier {
    /// The singular of a word: `issue` for `issues`, `entry` for `entries`; nil if the word is not a known plural.
    static func singular(_ word: String) -> String? {
        if word.count < 4 || word.hasSuffix("ss") || word.hasSuffix("us") || word.hasSuffix("is") { return nil }
        if word.hasSuffix("ies") { return word.dropLast(3) + "y" }
        if word.hasSuffix("sses") || word.hasSuffix("xes") || word.hasSuffix("ches") || word.hasSuffix("shes") {
            return String(word.dropLast(2))
        }
        return word.hasSuffix("s") ? String(word.dropLast()) : nil
    }
}
