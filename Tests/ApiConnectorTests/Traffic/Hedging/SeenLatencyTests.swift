// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

struct SeenLatencyTests {
    private func key(_ route: String) throws -> SeenLatencies.Key {
        let origin = try #require(URL(string: "http://h/").flatMap { HTTPOrigin($0) })
        return SeenLatencies.Key(origin: origin, method: .get, route: route)
    }

    @Test func atMost256RoutesAreKnown() throws {
        let seen = SeenLatencies()
        for number in 0..<300 { seen.add(.seconds(1), to: try key("\(number)")) }
        #expect(seen.count == 256)
    }

    @Test func theLast128CallsCount() throws {
        let seen = SeenLatencies()
        let key = try key("a")
        for _ in 0..<200 { seen.add(.seconds(9), to: key) }
        for _ in 0..<127 { seen.add(.seconds(1), to: key) }
        #expect(seen.percentile(1, of: key) == .seconds(9))
        seen.add(.seconds(1), to: key)
        #expect(seen.percentile(1, of: key) == .seconds(1))
    }

    @Test func aPercentileNeeds20Calls() throws {
        let seen = SeenLatencies()
        let key = try key("a")
        for number in 1...19 { seen.add(.seconds(number), to: key) }
        #expect(seen.percentile(0.5, of: key) == nil)
        seen.add(.seconds(20), to: key)
        #expect(seen.percentile(0, of: key) == .seconds(1))
        #expect(seen.percentile(0.5, of: key) == .seconds(10))
        #expect(seen.percentile(0.51, of: key) == .seconds(11))
        #expect(seen.percentile(1, of: key) == .seconds(20))
    }
}
