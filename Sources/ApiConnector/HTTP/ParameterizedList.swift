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
