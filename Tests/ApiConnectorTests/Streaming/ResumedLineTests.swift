// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// NDJSON that breaks off and is resumed by `Range`.
struct ResumedLineTests {
    private let host = LineHost()

    @Test(arguments: Wire.sockets)
    func resumesAfterTheLastCompleteRecord(_ wire: Wire) async throws {
        let found = try await host.read(
            [.whole(upTo: 11), .rest(from: 10, upTo: 3), .rest(from: 10)],
            over: wire,
            waiting: 2
        )
        #expect(found.error == nil)
        #expect(found.numbers == [1, 22, 333, 4444])
        #expect(found.requests.map { $0.header("Range") } == [nil, "bytes=10-", "bytes=10-"])
        #expect(found.requests.map { $0.header("If-Range") } == [nil, "\"v1\"", "\"v1\""])
        #expect(found.requests.map { $0.header("Accept-Encoding") } == ["identity", "identity", "identity"])
    }

    /// The range then counts bytes of the uncompressed body.
    @Test func asksForUncompressedBytesIfTheFormatIsThatOfTheResponse() async throws {
        let format = StreamFormat<Int>.automatic.resuming(host.policy)
        let found = try await host.read([.whole(upTo: 11), .rest(from: 10)], waiting: 1, as: format)
        #expect(found.error == nil)
        #expect(found.numbers == [1, 22, 333, 4444])
        #expect(found.requests.map { $0.header("Accept-Encoding") } == ["identity", "identity"])
    }

    @Test func aRecordRestartsTheCountOfAttempts() async throws {
        let found = try await host.read(
            [
                .whole(upTo: 5), .rest(from: 5, upTo: 1), .rest(from: 5, upTo: 1), .rest(from: 5, upTo: 9),
                .rest(from: 14, upTo: 1), .rest(from: 14, upTo: 1), .rest(from: 14),
            ],
            waiting: 6
        )
        #expect(host.policy.maximumAttemptCount == 3)
        #expect(found.error == nil)
        #expect(found.numbers == [1, 22, 333, 4444])
    }

    @Test func losesAndRepeatsNothingWhereverItBreaks() async throws {
        let total = LineHost.body.utf8.count
        // Before its first byte there is no stream yet, and the first request is not repeated.
        for cut in 1..<total {
            let start = Self.start(of: cut)
            let found = try await host.read([.whole(upTo: cut), .rest(from: start)], waiting: 1)
            #expect(found.error == nil, "cut at \(cut)")
            #expect(found.numbers == [1, 22, 333, 4444], "cut at \(cut)")
            #expect(found.requests.last?.header("Range") == "bytes=\(start)-", "cut at \(cut)")
        }
    }

    /// From where the body is asked for when it broke off after `cut` bytes.
    private static func start(of cut: Int) -> Int {
        var start = 0
        var isWithin = false
        // A mark that is not whole yet may be none.
        guard cut >= 3 else { return 0 }
        for (place, byte) in LineHost.body.utf8.enumerated().prefix(cut) {
            if place < 3 || !isWithin && [0x0A, 0x0D, 0x20].contains(byte) {
                start = place + 1
            } else if byte == 0x0A {
                isWithin = false
                start = place + 1
            } else {
                isWithin = true
            }
        }
        return start
    }

    @Test func countsRecordsAndBytesFromTheStartOfTheBody() async throws {
        let fields = [("ETag", "\"v1\""), ("Content-Range", "bytes 10-18/19")]
        let answer = LineHost.Answer(status: 206, fields: fields, whole: "333\n\"x\" \n")
        let found = try await host.read([.whole(upTo: 10), answer], waiting: 1)
        #expect(found.numbers == [1, 22, 333])
        #expect(found.error?.kind == .decodingFailed)
        #expect(
            found.error?.detail.hasPrefix("record 4, which begins at byte 14 of the body, does not decode as Int: ")
                == true
        )
        #expect(found.requests.count == 2)
    }

    @Test func isNotResumedAtItsEnd() async throws {
        let found = try await host.read([.whole()], waiting: 0)
        #expect(found.numbers == [1, 22, 333, 4444])
        #expect(found.error == nil)
        #expect(found.requests.count == 1)
    }

    @Test func knowsThatNothingWasMissing() async throws {
        // The connection was lost after the last byte, before the chunk that ends the body.
        let total = LineHost.body.utf8.count
        var whole = LineHost.Answer.whole()
        whole.isChunked = true
        let nothing = LineHost.Answer(status: 416, fields: [("Content-Range", "bytes */\(total)")], whole: "")
        let found = try await host.read([whole, nothing], waiting: 1)
        #expect(found.numbers == [1, 22, 333, 4444])
        #expect(found.error == nil)
        #expect(found.requests.last?.header("Range") == "bytes=\(total)-")
    }

    /// A part may omit the date of its version, and must not omit the entity tag.
    @Test(arguments: [[], [("Last-Modified", "Mon, 01 Jun 2026 10:00:00 GMT")]] as [[(String, String)]])
    func resumesWithAStrongLastModifiedDate(_ fields: [(String, String)]) async throws {
        let day = "Mon, 01 Jun 2026 10:00:00 GMT"
        let whole = LineHost.Answer.whole(
            upTo: 10,
            [("Last-Modified", day), ("Date", "Mon, 01 Jun 2026 10:00:01 GMT")]
        )
        let found = try await host.read([whole, .rest(from: 10, fields)], waiting: 1)
        #expect(found.error == nil)
        #expect(found.numbers == [1, 22, 333, 4444])
        #expect(found.requests.last?.header("If-Range") == day)
    }

    @Test func resumesEvenIfTheCallAcceptsOnlyStatus200() async throws {
        let options = CallOptions(validation: .status(200))
        let found = try await host.read([.whole(upTo: 11), .rest(from: 10)], waiting: 1, options: options)
        #expect(found.error == nil)
        #expect(found.numbers == [1, 22, 333, 4444])
    }

    /// The check has accepted the beginning, and would take the rest for a whole body.
    @Test func resumesWithoutACheckOfTheRest() async throws {
        let start = LineHost.body.utf8.first
        let check = ResponseValidation { (response, body) throws(ApiConnectorError) in
            guard body.first == start else {
                throw ApiConnectorError(.other, at: .validation, "not the start", response: response, body: body)
            }
        }
        let options = CallOptions(validation: .status(200).and(check))
        let found = try await host.read([.whole(upTo: 11), .rest(from: 10)], waiting: 1, options: options)
        #expect(found.error == nil)
        #expect(found.numbers == [1, 22, 333, 4444])
    }

    @Test func keepsItsPolicyForUndecodableRecords() async throws {
        var whole = LineHost.Answer.whole(upTo: 8)
        whole.whole = "1\n\"x\"\n3\n"
        whole.byteCount = 7
        let fields = [("ETag", "\"v1\""), ("Content-Range", "bytes 6-7/8")]
        let rest = LineHost.Answer(status: 206, fields: fields, whole: "3\n")
        let skipping = try await host.read(
            [whole, rest],
            waiting: 1,
            as: .skippingUndecodable(.jsonLines).resuming(host.policy)
        )
        #expect(skipping.numbers == [1, 3])
        #expect(skipping.error == nil)
        let automatic = try await host.read(
            [whole, rest],
            waiting: 1,
            as: .skippingUndecodable(.automatic.resuming(host.policy))
        )
        #expect(automatic.numbers == [1, 3])
        #expect(automatic.error == nil)
    }

    @Test func resumesAfterARetryableStatus() async throws {
        let answers: [LineHost.Answer] = [
            .whole(upTo: 10), LineHost.Answer(status: 503, fields: [("Retry-After", "7")], whole: ""), .rest(from: 10),
        ]
        let found = try await host.read(answers, waiting: 2)
        #expect(found.error == nil)
        #expect(found.numbers == [1, 22, 333, 4444])
        #expect(found.requests.map { $0.header("Range") } == [nil, "bytes=10-", "bytes=10-"])
    }
}
