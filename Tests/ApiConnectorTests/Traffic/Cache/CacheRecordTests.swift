// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// The answers that are stored for one address, as values and as bytes.
struct CacheRecordTests {
    /// A record of three responses to three users.
    private static func record(_ fields: (Int) -> HTTPHeaders) -> CacheRecord {
        var record = CacheRecord()
        for number in 0..<3 {
            let stored = StoredResponse(
                status: 200,
                headers: fields(number),
                body: Data("body \(number)".utf8),
                requestDate: Date(timeIntervalSince1970: 1.25),
                responseDate: Date(timeIntervalSince1970: 2),
                credential: Data("\(number)".utf8)
            )
            record.insert(stored)
        }
        return record
    }

    @Test func refusesBytesThatAreNotARecord() {
        let record = Self.record { ["A": "\($0)", "A": "b"] }
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

    @Test func aParsedRecordAnswersOnlyFromItsOwnFields() throws {
        let record = Self.record { ["A": "\($0)", "Cache-Control": "max-age=\($0)"] }
        let data = record.data
        let parsed = try #require(ParsedCacheRecord(data))
        let bodies = try record.responses.map { try #require(data.firstRange(of: $0.body)) }
        try #require(bodies.count == 3)
        let wrong = data.indices.filter { index in
            var changed = Data([1, 2]) + data
            changed[index + 2] ^= 1
            let isInBody = bodies.contains { $0.contains(index) }
            return parsed.isParsed(from: changed.dropFirst(2)) != isInBody
        }
        #expect(wrong == [], "a change of these bytes is in a body, or not, and was taken for the opposite")
        #expect(!parsed.isParsed(from: data + Data([0])))
        #expect(!parsed.isParsed(from: data.dropLast()))
        #expect(ParsedCacheRecord(data.dropLast()) == nil)

        let digest = CacheDigest(key: Data([1]))
        let request = ApiRequest(url: URL(filePath: "/"))
        for response in record.responses {
            #expect(parsed.response(to: request, as: response.credential, digest, in: data) == response)
            let slice = (Data([1, 2]) + data).dropFirst(2)
            #expect(parsed.response(to: request, as: response.credential, digest, in: slice) == response)
        }
        #expect(parsed.response(to: request, as: Data("3".utf8), digest, in: data) == nil)
    }

    @Test func parsedRecordsAreBounded() throws {
        func parsed(fieldByteCount: Int) throws -> ParsedCacheRecord {
            let stored = StoredResponse(
                status: 200,
                headers: ["A": String(repeating: "a", count: fieldByteCount)],
                body: Data(count: 1_000_000),
                requestDate: .distantPast,
                responseDate: .distantPast
            )
            return try #require(ParsedCacheRecord(CacheRecord([stored]).data))
        }
        func key(_ number: Int) -> CacheKey { CacheKey(digest: SHA256Digest.digest(of: Array("\(number)".utf8))) }
        let maximum = 1024 * 1024
        var records = RecentValues<CacheKey, ParsedCacheRecord>(maximumByteCount: maximum)
        let record = try parsed(fieldByteCount: 1000)
        #expect(3000..<5000 ~= record.byteCount)
        for number in 0..<1000 {
            records.insert(record, for: key(number), byteCount: record.byteCount)
            // The first is used again and again, and stays.
            #expect(records.value(for: key(0)) != nil)
            #expect(records.byteCount <= maximum)
        }
        #expect(records.byteCount > maximum / 2)
        #expect(records.value(for: key(999)) != nil)
        #expect(records.value(for: key(500)) == nil)
        let large = try parsed(fieldByteCount: 200_000)
        #expect(large.byteCount > 400_000)
        records.insert(large, for: key(999), byteCount: large.byteCount)
        #expect(records.value(for: key(999)) == nil)
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
