// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

@testable import ApiConnectorTesting

struct JSONComparisonTests {
    @Test(arguments: [(1, 1), (5, 5), (8, 5)])
    func theDifferencesOfABodyTogetherWeighOne(_ count: Int, _ shown: Int) {
        let keys = (0..<count).map { "key\($0)" }
        let wanted = JSONValue.object(Dictionary(uniqueKeysWithValues: keys.map { ($0, .bool(true)) }))
        let sent = JSONValue.object(Dictionary(uniqueKeysWithValues: keys.map { ($0, .bool(false)) }))
        let found = JSONComparison(allowsMore: false).differences(wanted, sent)
        #expect(found.count == shown)
        let weight: Double = found.map(\.weight).reduce(0, +)
        #expect(abs(weight - 1) < 1e-9)
    }

    @Test func equalValuesHaveNoDifferences() {
        #expect(JSONComparison(allowsMore: false).differences(.bool(true), .bool(true)).isEmpty)
    }
}
