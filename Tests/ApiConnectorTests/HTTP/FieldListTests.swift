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
}
