// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A `pattern`: a regular expression of ECMA-262, read by Swift's `Regex`.
struct SchemaPattern {
    private let regex: Regex<AnyRegexOutput>

    /// Nil for an expression that `Regex` does not read.
    init?(_ pattern: String) {
        guard let regex = try? Regex(pattern) else { return nil }
        self.regex = regex.matchingSemantics(.unicodeScalar).asciiOnlyDigits().asciiOnlyWordCharacters()
    }

    func matches(_ text: String) -> Bool { (try? regex.firstMatch(in: text)) != nil }
}
