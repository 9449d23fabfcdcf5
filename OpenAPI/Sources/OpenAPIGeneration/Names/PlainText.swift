// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Makes comments and literals of Swift from a document's text.
enum PlainText {
    /// The text in one line, without control characters and bidirectional marks.
    static func line(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var isSpace = true
        for scalar in text.unicodeScalars {
            if scalar.properties.isWhitespace || scalar.value < 0x20 || scalar == "\u{7F}" {
                if !isSpace { result.append(" ") }
                isSpace = true
            } else if !isHidden(scalar) {
                result.append(scalar)
                isSpace = false
            }
        }
        if isSpace, !result.isEmpty { result.removeLast() }
        return String(result)
    }

    /// The text with escaped control and format characters, for a terminal.
    static func visible(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isHidden) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isHidden(scalar) {
                result.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// The text as a literal, with quotes.
    static func literal(_ text: String) -> String { "\"" + literalContent(text) + "\"" }

    /// The text as it is written between the quotes of a literal.
    static func literalContent(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default:
                if scalar.value < 0x20 || 0x7F...0xA0 ~= scalar.value || isHidden(scalar) {
                    result += "\\u{\(String(scalar.value, radix: 16))}"
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        return result
    }

    /// Whether a scalar is a control or format character, ends a line, or has no meaning in Unicode.
    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }

    /// The first sentence of a Markdown text, in one line; nil if there is no sentence.
    static func firstSentence(_ text: String?) -> String? {
        guard let text else { return nil }
        // A paragraph ends at an empty line, and before a list or a heading.
        var paragraph: [Substring] = []
        for row in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            let trimmed = row.drop { $0 == " " || $0 == "\t" }
            let startsBlock = trimmed.hasPrefix("#") || trimmed.hasPrefix("* ") || trimmed.hasPrefix("- ")
            if startsBlock || trimmed.isEmpty, !paragraph.isEmpty { break }
            if !startsBlock, !trimmed.isEmpty { paragraph.append(trimmed) }
            if paragraph.count > 8 { break }
        }
        let sentence = end(of: line(paragraph.joined(separator: " ")))
        return sentence.isEmpty ? nil : sentence
    }

    /// The text up to the end of its first sentence, at most 240 characters.
    private static func end(of text: String) -> String {
        var previous: Character?
        for index in text.indices {
            let character = text[index]
            let next = text.index(after: index)
            let endsHere = next == text.endIndex || text[next] == " "
            if ".!?".contains(character), endsHere, previous?.isLetter == true || previous == ")" || previous == "`" {
                let sentence = text[...index]
                let isAbbreviation = ["e.g.", "i.e.", "etc.", "vs.", "cf."].contains { sentence.hasSuffix($0) }
                if !isAbbreviation, sentence.count > 3 { return cut(sentence) }
            }
            previous = character
        }
        return cut(text[...])
    }

    private static func cut(_ text: Substring) -> String {
        guard text.count > 240 else { return String(text) }
        let short = text.prefix(240)
        let end = short.lastIndex(of: " ") ?? short.endIndex
        return short[..<end] + "…"
    }
}
