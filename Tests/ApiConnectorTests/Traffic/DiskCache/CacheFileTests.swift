// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

struct CacheFileTests {
    @Test func onlyAFileWithAUniqueNameIsTemporary() {
        #expect(CacheFile.isTemporary(CacheFile.temporaryName()))
        #expect(!CacheFile.isTemporary("notes.new"))
        #expect(!CacheFile.isTemporary(String(repeating: "a", count: 40)))
        #expect(!CacheFile.isTemporary(String(repeating: "a", count: 37) + ".new"))
    }

    @Test(arguments: [0, 1, 7, 8, 9, 15, 16, 17, 64])
    func aChangeOfAnyBitIsNoticed(_ count: Int) {
        let key = CacheKey(digest: SHA256Digest.digest(of: [1]))
        let record = Data((0..<count).map { UInt8($0) })
        let bytes = CacheFile.bytes(of: record, for: key)
        #expect(bytes.count == CacheFile.byteCount(of: record))
        #expect(CacheFile.record(in: bytes, of: key) == record)
        for index in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[index] ^= 1 << bit
                #expect(CacheFile.record(in: changed, of: key) == nil)
            }
        }
        #expect(CacheFile.record(in: bytes.dropLast(), of: key) == nil)
    }

    /// Eight bytes and their first byte are the same number.
    @Test func aRecordThatHasLostItsZerosIsNoticed() {
        let key = CacheKey(digest: SHA256Digest.digest(of: [1]))
        let bytes = CacheFile.bytes(of: Data([1, 0, 0, 0, 0, 0, 0, 0]), for: key)
        #expect(CacheFile.record(in: bytes.dropLast(7), of: key) == nil)
    }
}
