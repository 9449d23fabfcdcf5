// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

/// One text that a URL could take for something else, and the whole URL that has to come of it.
///
/// The URLs were written by another program (Python's `urllib.parse.quote`), not by the code under test.
struct AwkwardText<Input: Sendable>: Sendable, CustomTestStringConvertible {
    let input: Input
    let url: String
    let reason: String

    init(_ input: Input, _ url: String, _ reason: String) {
        self.input = input
        self.url = url
        self.reason = reason
    }

    var testDescription: String { reason }
}
