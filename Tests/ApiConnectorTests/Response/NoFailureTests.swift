// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

struct NoFailureTests {
    @Test(arguments: ["null", "{}", #""down""#])
    func nothingDecodesAsAFailureOfARouterThatNamesNone(_ json: String) {
        #expect {
            try JSONDecoder().decode([NoFailure].self, from: Data("[\(json)]".utf8))
        } throws: { error in
            guard case DecodingError.dataCorrupted(let context) = error else { return false }
            return context.debugDescription == "The router declares no failure type." && context.codingPath.count == 1
        }
    }
}
