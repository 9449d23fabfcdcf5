// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

struct ConfigurationTests {
    @Test func changingACopyDoesNotChangeTheOriginal() {
        let clock = ManualClock()
        let original = ConnectionConfiguration()
        var copy = original
        copy.headers = ["X-A": "1"]
        copy.encoder = JSONEncoder()
        copy.decoder = JSONDecoder()
        copy.timeSource = clock
        #expect(copy.headers["X-A"] == "1")
        #expect(copy.encoder !== original.encoder)
        #expect(copy.decoder !== original.decoder)
        #expect(copy.timeSource as? ManualClock === clock)
        #expect(original.headers["X-A"] == nil)
        #expect(original.timeSource as? ManualClock == nil)
    }

    @Test func aCallsTimeSourceIsTheConnectionsUnlessItIsSet() {
        let clock = ManualClock()
        var options = CallOptions()
        #expect(options.timeSource == nil)
        options.timeSource = clock
        #expect(options.timeSource as? ManualClock === clock)
        options.timeSource = nil
        #expect(options.timeSource == nil)
    }
}
