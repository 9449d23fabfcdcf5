// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

struct CallMetricsTests {
    @Test func aHistogramHasABucketPerBoundAndOneForLongerCalls() async throws {
        let clock = ManualClock()
        let metrics = CallMetrics()
        let provider = TestConnector { [clock] _ in
            clock.advance(by: .seconds(11))
            return .status(204)
        }
        .observing(by: metrics, timeSource: clock)
        let api = NetworkConnector(environment: Place(), provider: provider, router: Endpoint<ApiPath>.self)
        try await api.send(at: Endpoint(path: "/a"))
        let series = try #require(metrics.snapshot.values.first)
        #expect(series.histogram == [Int](repeating: 0, count: 11) + [1])
        #expect(CallMetrics.bounds.count == 11)
    }

    @Test func levelsAreInOrder() {
        let levels: [CallLog.Level] = [.debug, .info, .warning, .error]
        #expect(levels.sorted() == levels)
        for (lower, upper) in zip(levels, levels.dropFirst()) { #expect(lower < upper) }
        for level in levels { #expect(!(level < level)) }
    }
}
