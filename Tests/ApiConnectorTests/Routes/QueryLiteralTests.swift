// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

struct QueryLiteralTests {
    @Test func aQueryIsWrittenAsItemsOrAsNamesAndValues() {
        let items: ApiQuery = [URLQueryItem(name: "a", value: "1"), URLQueryItem(name: "a", value: nil)]
        #expect(items.items == [URLQueryItem(name: "a", value: "1"), URLQueryItem(name: "a", value: nil)])
        let pairs: ApiQuery = ["b": "2", "a": "1", "b": "3"]
        #expect(pairs.items.map(\.name) == ["b", "a", "b"])
        #expect(pairs.items.map(\.value) == ["2", "1", "3"])
    }
}
