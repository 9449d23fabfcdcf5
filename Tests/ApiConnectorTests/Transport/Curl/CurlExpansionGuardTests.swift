// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

@Suite struct CurlExpansionGuardTests {
    private func admit(_ expansion: inout CurlExpansionGuard, _ byteCount: Int, wireByteCount: Int) -> String? {
        expansion.admit(byteCount, wireByteCount: wireByteCount)
    }

    @Test func allowsTheRatioAndNoMore() {
        var expansion = CurlExpansionGuard(maximumRatio: 100, maximumByteCount: 1 << 30, readByteCount: 0)
        #expect(admit(&expansion, 2_000_000, wireByteCount: 20_000) == nil)
        #expect(
            admit(&expansion, 1, wireByteCount: 20_000) == "the body expands to more than 100 times what was received"
        )
    }

    /// libcurl counts a chunked body only after it has delivered all of a read.
    @Test func allowsWhatOneReadMayHold() {
        var expansion = CurlExpansionGuard(maximumRatio: 100, maximumByteCount: 1 << 30, readByteCount: 20_000)
        #expect(admit(&expansion, 2_000_000, wireByteCount: 0) == nil)
        #expect(admit(&expansion, 1, wireByteCount: 0) != nil)
    }

    @Test func neverRefusesAShortBodyForItsRatio() {
        var expansion = CurlExpansionGuard(maximumRatio: 100, maximumByteCount: 1 << 30, readByteCount: 0)
        #expect(admit(&expansion, CurlExpansionGuard.freeByteCount, wireByteCount: 1) == nil)
        #expect(admit(&expansion, 1, wireByteCount: 1) != nil)
    }

    @Test func refusesAHugeBodyWhateverItsRatio() {
        var expansion = CurlExpansionGuard(maximumRatio: .max, maximumByteCount: 10, readByteCount: 0)
        #expect(admit(&expansion, 10, wireByteCount: 10) == nil)
        #expect(
            admit(&expansion, 1, wireByteCount: 11) == "the decompressed body is longer than the limit of 10 bytes"
        )
    }

    @Test func countsBytesThatComeAgainOnce() {
        var expansion = CurlExpansionGuard(maximumRatio: .max, maximumByteCount: 10, readByteCount: 0)
        #expect(admit(&expansion, 8, wireByteCount: 8) == nil)
        expansion.takeBack(8)
        #expect(admit(&expansion, 8, wireByteCount: 8) == nil)
    }
}
