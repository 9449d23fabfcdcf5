// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

/// Reading facts about a stream from libcurl's log.
struct CurlStreamLogTests {
    private func line(_ text: String, version: UInt32 = 0x07_58_01) -> CurlStreamLog.Line? {
        Array((text + "\n").utf8).withUnsafeBytes { CurlStreamLog.line($0, CurlLogTexts(version: version)) }
    }

    /// Each relevant text as libcurl writes it, with a version that does.
    static let relevant: [(version: UInt32, text: String, line: CurlStreamLog.Line)] = [
        (0x07_58_01, "Using Stream ID: 163 (easy handle 0x7f49)", .stream(163)),
        (0x08_05_00, "[HTTP/2] [1] OPENED stream for http://a.test/", .stream(1)),
        (0x08_17_00, "[HTTP/2] [21] OPENED stream for http://a.test/", .stream(21)),
        (0x07_58_01, "recveived GOAWAY, error=0, last_stream=161", .goAway(lastStream: 161, error: 0)),
        (0x08_03_00, "received GOAWAY, error=11, last_stream=2147483647", .goAway(lastStream: 0x7FFF_FFFF, error: 11)),
        (0x07_58_01, "REFUSED_STREAM, retrying a fresh connect", .refused),
        (0x08_17_00, "REFUSED_STREAM, retrying a fresh connection", .refused),
        (0x08_11_00, "HTTP/2 stream 3 refused by server, try again on a new connection", .refusedStream(3)),
        (0x07_58_01, "Connection died, retrying a fresh connect (retry count: 1)", .died),
        (0x08_17_00, "Connection died, retrying a fresh connection (retry count: 1)", .died),
        (0x07_58_01, "Empty reply from server", .empty),
        (0x07_58_01, "Downgrades to HTTP/1.1", .downgraded),
        (0x07_58_01, "stream 1 closed", .closed),
        (0x07_58_01, "Connection cache is full, closing the oldest one", .full),
        (0x07_58_01, "Closing connection 0", .closing),
        (0x07_58_01, "Connection #12 to host 127.0.0.1 left intact", .kept),
        (0x08_13_00, "Connection #12 to host 127.0.0.1:443 left intact", .kept),
        (0x07_58_01, "Failed sending HTTP POST request", .unsent),
        (0x08_05_00, "[HTTP/2] [3] REFUSED_STREAM, try again on a new connection", .refusedStream(3)),
        (
            0x08_05_00, "[HTTP/2] [0] -> FRAME[GOAWAY, error=1, reason='DATA: stream not opened', last_stream=0]",
            .violation
        ),
        (0x08_0D_00, "nghttp2 recv error -902: The user callback function failed", .violation),
        (0x08_0D_00, "nghttp2 shuts down connection with error 1: PROTOCOL_ERROR", .violation),
        (
            0x08_0D_00, "[HTTP2] [5] received invalid frame: FRAME[DATA, len=5, eos=1], error -505: Protocol error",
            .malformed(stream: 5)
        ),
        (0x08_05_00, "HTTP/2 stream 3 was not closed cleanly: PROTOCOL_ERROR (err 1)", .malformed(stream: 3)),
        (0x08_10_00, "HTTP/2 stream 3 was not closed cleanly: unknown (err 4294966791)", .malformed(stream: 3)),
        (0x08_13_00, "HTTP/2 stream 3 reset by curl (error 0xfffffded unknown)", .malformed(stream: 3)),
        (0x08_13_00, "HTTP/2 stream 3 reset by server (error 0x1 PROTOCOL_ERROR)", .malformed(stream: 3)),
    ]

    @Test func readsTheRelevantLinesOfEachVersion() {
        for row in Self.relevant { #expect(line(row.text, version: row.version) == row.line, "\(row.text)") }
    }

    /// A newer libcurl may write the same text for another reason.
    @Test(arguments: [CurlLogTexts.oldestVersion - 1, CurlLogTexts.newestVersion + 1])
    func readsNoLineOfAnUnknownVersion(_ version: UInt32) {
        for row in Self.relevant { #expect(line(row.text, version: version) == nil, "\(row.text)") }
    }

    @Test(arguments: [
        "", "Using Stream ID: ", "Using Stream ID: 99999999999", "Using Stream ID: b (easy handle 0x7f49)",
        "recveived GOAWAY, error=0", "Failed sending HTTP2 data", "recveived GOAWAY, error=0, last=1",
        "stream 1 opened", "stream  closed", "Closing", "Connection #0 isn't open enough, can't reuse", "Rebuilt",
        "[HTTP/2] [0] -> FRAME[GOAWAY, error=0, reason='', last_stream=0]", "[HTTP/2] [1] [:method: GET]",
        "[HTTP/2] [x] OPENED stream for a", "[HTTP2] [1] received",
        "nghttp2 shuts down connection with error 0: NO_ERROR",
        "HTTP/2 stream 3 was not closed cleanly: INTERNAL_ERROR (err 2)",
        "HTTP/2 stream 3 reset by server (error 0x2 INTERNAL_ERROR)",
        "HTTP/2 stream 3 was closed cleanly, but before getting  all response header fields, treated as error",
    ])
    func skipsAllOthers(_ text: String) {
        #expect(line(text) == nil)
    }

    @Test func countsTheReportsOfACall() {
        var progress = CurlProgressCount()
        #expect(progress.isNone(in: 1))
        progress.send(in: 1)
        for _ in 0..<2 { progress.report(in: 1) }
        #expect(progress.isNone(in: 1))
        progress.report(in: 1)
        #expect(!progress.isNone(in: 1))
        #expect(progress.isNone(in: 2))
        progress.report(in: 2)
        #expect(!progress.isNone(in: 2))
    }
}

/// The decisions that need libcurl's texts, and their safe sides.
struct CurlLogTextsTests {
    @Test func aRefusalWithoutATextIsOnlyBelievedWhereNothingElseHasNone() {
        let expected: [(UInt32, CurlLogTexts.Refusal)] = [
            (0x07_58_01, .failedRead), (0x08_03_00, .named), (0x08_0C_01, .named),
            (0x08_0D_00, .failedReadOfOpenConnection), (0x08_10_00, .failedReadOfOpenConnection), (0x08_11_00, .named),
            (CurlLogTexts.newestVersion, .named), (CurlLogTexts.newestVersion + 1, .named),
        ]
        for (version, refusal) in expected {
            #expect(CurlLogTexts(version: version).refusal == refusal, "\(String(version, radix: 16))")
        }
    }

    /// An unknown version does not tell a lost connection from a malformed response, which must not be retried.
    @Test(
        arguments: [
            (16, "", true), (92, "HTTP/2 stream 1 was reset", true), (56, "Recv failure", true),
            (56, "Recv failure", false), (18, "", true), (52, "", false), (55, "", false),
        ] as [(Int32, String, Bool)],
        [false, true]
    )
    func anUnknownVersionsErrorsAreNotRetriedIfTheResponseMayBeMalformed(
        _ failure: (code: Int32, words: String, hasHead: Bool),
        _ isReset: Bool
    ) {
        func kind(_ version: UInt32) -> ApiConnectorError.Kind {
            CurlLogTexts(version: version)
                .kind(of: failure.code, words: failure.words, hasHead: failure.hasHead, isReset: isReset)
        }
        #expect(kind(CurlLogTexts.newestVersion) == .connectionLost)
        let isDoubtful =
            failure.code == 16 || failure.code == 92 || (failure.code == 56 && failure.hasHead && !isReset)
        #expect(kind(CurlLogTexts.newestVersion + 1) == (isDoubtful ? .malformedResponse : .connectionLost))
    }
}
