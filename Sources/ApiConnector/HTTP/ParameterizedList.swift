// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A list of items with parameters (RFC 9651, section 3.1), as far as names and numbers in it are concerned.
enum ParameterizedList {
    struct Member {
        /// What stands before the first parameter, quotes taken off.
        var item: String
        var parameters: [String: String] = [:]
        /// The item read as a field of a dictionary.
        var fields: [(String, String)] { ParameterizedList.pair(item).map { [$0] } ?? [] }
    }

    static func members(of text: String) -> [Member] {
        split(text, at: ",").map { member in
            let parts = split(member, at: ";")
            let pairs = parts.dropFirst().compactMap(pair)
            return Member(
                item: parts.first?.trimmingCharacters(in: CharacterSet(charactersIn: "\"")) ?? "",
                parameters: Dictionary(pairs) { _, last in last }
            )
        }
    }

    private static func pair(_ text: String) -> (String, String)? {
        guard let place = text.firstIndex(of: "=") else { return nil }
        return (String(text[..<place]), String(text[text.index(after: place)...]))
    }

    /// The parts between separators that stand in no quoted text, without blanks round them.
    private static func split(_ text: String, at separator: Character) -> [String] {
        var parts = [""]
        var isQuoted = false
        var isEscaped = false
        for character in text {
            if character == separator, !isQuoted {
                parts.append("")
                continue
            }
            if character == "\"", !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && character == "\\" && !isEscaped
            parts[parts.count - 1].append(character)
        }
        return parts.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
