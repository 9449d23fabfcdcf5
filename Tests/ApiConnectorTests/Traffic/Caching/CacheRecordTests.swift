// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// The answers that are stored for one address, as values and as bytes.
struct CacheRecordTests {
    @Test func refusesBytesThatAreNotARecord() {
        var record = CacheRecord()
        for number in 0..<3 {
            let stored = StoredResponse(
                status: 200,
                headers: ["A": "\(number)", "A": "b"],
                body: Data("body \(number)".utf8),
                requestDate: Date(timeIntervalSince1970: 1.25),
                responseDate: Date(timeIntervalSince1970: 2),
                credential: Data("\(number)".utf8)
            )
            record.insert(stored)
        }
        let data = record.data
        #expect(CacheRecord(data) == record)
        // A slice, as of a file, is one as well.
        #expect(CacheRecord((Data([1, 2]) + data).dropFirst(2)) == record)
        for end in 0..<data.count { #expect(CacheRecord(data.prefix(end)) == nil) }
        #expect(CacheRecord(data + Data([0])) == nil)
        var random = SplitMix64.printed()
        for _ in 0..<min(SplitMix64.caseCount, 20_000) {
            var changed = data
            for _ in 0...2 { changed[Int.random(in: 0..<data.count, using: &random)] = random.next8() }
            // Reading the bytes never traps.
            _ = CacheRecord(changed)
        }
    }

    @Test func aRecordMayHaveNoResponseAndAResponseNoField() {
        var record = CacheRecord()
        #expect(CacheRecord(record.data) == record)
        record.insert(
            StoredResponse(
                status: 200,
                headers: HTTPHeaders(),
                body: Data(),
                requestDate: Date(timeIntervalSince1970: 1),
                responseDate: Date(timeIntervalSince1970: 2)
            )
        )
        #expect(CacheRecord(record.data) == record)
    }

    @Test func keepsTheNewestResponsesOfAURL() {
        var record = CacheRecord()
        func stored(_ number: Int) -> StoredResponse {
            StoredResponse(
                status: 200,
                headers: HTTPHeaders(),
                body: Data(count: 10),
                requestDate: .distantPast,
                responseDate: .distantPast,
                credential: Data([UInt8(number)])
            )
        }
        for number in 0..<10 { record.insert(stored(number)) }
        #expect(record.responses.map { $0.credential[0] } == [9, 8, 7, 6, 5, 4, 3, 2])
        record.insert(stored(5))
        #expect(record.responses.map { $0.credential[0] } == [5, 9, 8, 7, 6, 4, 3, 2])
        record.trim(to: 25)
        #expect(record.responses.map { $0.credential[0] } == [5, 9])
    }
}

extension SplitMix64 {
    fileprivate mutating func next8() -> UInt8 { UInt8(truncatingIfNeeded: next()) }
}
