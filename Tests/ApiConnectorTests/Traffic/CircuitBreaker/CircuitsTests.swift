// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

struct CircuitsTests {
    @Test func theLeastRecentlyUsedOfMoreThan256HostsIsForgotten() throws {
        let circuits = Circuits(CircuitPolicy())
        let origins = try (0..<257).map { number in
            try #require(URL(string: "http://h\(number)/").flatMap { HTTPOrigin($0) })
        }
        for (number, origin) in origins.enumerated() { _ = circuits.admit(origin, now: .seconds(number)) }
        #expect(circuits.count == 256)
    }
}
