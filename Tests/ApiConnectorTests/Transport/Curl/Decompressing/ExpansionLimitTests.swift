// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

struct ExpansionLimitTests {
    private func limit(ratio: Int = 100, byteCount: Int = 1 << 30, received: Int) -> ExpansionLimit {
        var limit = ExpansionLimit(maximumRatio: ratio, maximumByteCount: byteCount)
        limit.receive(received)
        return limit
    }

    @Test func refusesABodyAboveTheRatio() {
        var limit = limit(received: 20_000)
        var reasons = [limit.admit(2_000_000), limit.admit(1)]
        #expect(reasons == [nil, "the body expands to more than 100 times its compressed size"])
        limit.receive(1)
        reasons = [limit.admit(99), limit.admit(1)]
        #expect(reasons == [nil, "the body expands to more than 100 times its compressed size"])
    }

    @Test func neverRefusesAShortBodyForItsRatio() {
        var limit = limit(received: 1)
        let reasons = [limit.admit(ExpansionLimit.freeByteCount), limit.admit(1)]
        #expect(reasons == [nil, "the body expands to more than 100 times its compressed size"])
    }

    @Test func refusesAHugeBodyOfAnyRatio() {
        var limit = limit(ratio: .max, byteCount: 10, received: 11)
        let reasons = [limit.admit(10), limit.admit(1)]
        #expect(reasons == [nil, "the decompressed body is longer than the limit of 10 bytes"])
    }
}
