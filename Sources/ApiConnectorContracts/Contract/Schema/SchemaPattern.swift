// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The value of `pattern`: a regular expression of ECMA-262, which Swift's `Regex` parses.
struct SchemaPattern {
    private let regex: Regex<AnyRegexOutput>

    /// Returns nil for an expression that `Regex` cannot parse.
    init?(_ pattern: String) {
        guard let regex = try? Regex(pattern) else { return nil }
        self.regex = regex.matchingSemantics(.unicodeScalar).asciiOnlyDigits().asciiOnlyWordCharacters()
    }

    func matches(_ text: String) -> Bool { (try? regex.firstMatch(in: text)) != nil }
}
