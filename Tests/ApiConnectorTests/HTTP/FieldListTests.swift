// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

struct FieldListTests {
    @Test func theElementsOfAllFieldsAreOneListWithoutEmptyOnes() {
        var headers: HTTPHeaders = ["X-List": "a, b ,,\"c, \\\"d\" , "]
        headers.append("x-list", "e")
        headers.append("X-List", "")
        #expect(headers.elements("X-List") == ["a", "b", "\"c, \\\"d\"", "e"])
        #expect(headers.elements("X-Other") == [])
    }

    /// A list of ASCII characters is split byte by byte, another one character by character.
    @Test func bothWaysOfSplittingAreEqual() {
        let pieces = ["a", "b c", ",", ",", "\"", "\\", " ", "\t", ";", "=", "\r\n", "\u{1F}"]
        var random = SplitMix64.printed()
        for _ in 0..<SplitMix64.caseCount {
            let count = Int.random(in: 0..<12, using: &random)
            let text = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            #expect(text.parts(between: ",") == Array("é,\(text)".parts(between: ",").dropFirst()))
        }
    }
}
