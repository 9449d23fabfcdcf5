// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A parser for lists of items with parameters (RFC 9651, section 3.1).
///
/// It reads only names and numbers.
enum ParameterizedList {
    struct Member {
        /// The text before the first parameter, without quotes.
        var item: String
        var parameters: [String: String] = [:]
        /// The item, parsed as a field of a dictionary.
        var fields: [(String, String)] { ParameterizedList.pair(item).map { [$0] } ?? [] }
    }

    static func members(of text: String) -> [Member] {
        text.parts(between: ",").map { member in
            let parts = member.parts(between: ";")
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
}

extension StringProtocol {
    /// The nonempty parts between separators outside of quotes, without surrounding whitespace.
    fileprivate func parts(between separator: Character) -> [String] {
        var parts: [SubSequence] = []
        var start = startIndex
        var isQuoted = false
        var isEscaped = false
        for index in indices {
            let character = self[index]
            if character == separator, !isQuoted {
                parts.append(self[start..<index])
                start = self.index(after: index)
                continue
            }
            if character == "\"", !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && character == "\\" && !isEscaped
        }
        return (parts + [self[start...]]).map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
