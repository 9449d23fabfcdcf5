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

/// The meaning of the lines of a request's log, together with the facts about its connection.
struct CurlStreamLogRecordTests {
    private typealias Facts = CurlStreamLog.Facts

    private static let texts7 = CurlLogTexts(version: 0x07_58_01)
    private static let texts8 = CurlLogTexts(version: 0x08_10_00)
    private static let newestTexts = CurlLogTexts(version: CurlLogTexts.newestVersion)

    private static func sent(on stream: UInt32 = 5) -> CurlStreamLog {
        var log = CurlStreamLog()
        log.beginSend(in: 1)
        _ = log.record(.stream(stream), texts7, Facts())
        return log
    }

    /// The facts about a request that was sent on an open connection.
    private static func facts(_ change: (inout Facts) -> Void = { _ in }) -> Facts {
        var facts = Facts()
        facts.call = 1
        facts.isBodySent = true
        facts.hasEnded = false
        facts.isTLSOpen = { true }
        change(&facts)
        return facts
    }

    @Test func aRequestAfterTheLastStreamIsUnprocessed() {
        let log = Self.sent()
        #expect(!log.isUnprocessed(lastStream: nil))
        #expect(!log.isUnprocessed(lastStream: 5))
        #expect(log.isUnprocessed(lastStream: 3))
        #expect(!CurlStreamLog().isUnprocessed(lastStream: 3))
    }

    @Test func aRefusalOfAnotherStreamSaysNothing() {
        var log = Self.sent()
        #expect(log.record(.refusedStream(3), Self.texts8, Facts()) == .none)
        #expect(!log.isUnprocessed(lastStream: nil))
        #expect(log.record(.refusedStream(5), Self.texts8, Facts()) == .none)
        #expect(log.isUnprocessed(lastStream: nil))
    }

    @Test(arguments: [
        (CurlStreamLog.Line.refused, CurlStreamLog.Effect.closes), (.violation, .breaks),
        (.downgraded, .requiresHTTP1), (.died, .dies), (.unsent, .none), (.closed, .none),
        (.goAway(lastStream: 3, error: 0), .goAway(lastStream: 3, requiresHTTP1: false)),
        (.goAway(lastStream: 3, error: 13), .goAway(lastStream: 3, requiresHTTP1: true)),
    ])
    func aLineHasAnEffectOnTheConnection(_ line: CurlStreamLog.Line, _ effect: CurlStreamLog.Effect) {
        var log = Self.sent()
        #expect(log.record(line, Self.texts7, Self.facts()) == effect)
    }

    /// In 7.88, a failed read without a text is a refusal, but not after a read that succeeded.
    @Test(arguments: [0, 3]) func in7_88AFailedReadWithoutATextIsARefusal(_ readCount: Int) {
        var log = Self.sent()
        for _ in 0..<readCount { log.reportProgress(in: 1) }
        _ = log.record(.died, Self.texts7, Self.facts())
        #expect(log.isUnprocessed(lastStream: nil) == (readCount == 0))
    }

    @Test func from8_13ARefusalWithoutATextNeedsAnOpenConnection() {
        func isUnprocessed(_ facts: Facts, isClosed: Bool = false, _ texts: CurlLogTexts = Self.texts8) -> Bool {
            var log = Self.sent()
            if isClosed { _ = log.record(.closed, texts, facts) }
            _ = log.record(.died, texts, facts)
            return log.isUnprocessed(lastStream: nil)
        }
        #expect(isUnprocessed(Self.facts()))
        #expect(!isUnprocessed(Self.facts(), isClosed: true))
        #expect(!isUnprocessed(Self.facts { $0.hasEnded = nil }))
        #expect(!isUnprocessed(Self.facts { $0.hasEnded = true }))
        #expect(!isUnprocessed(Self.facts { $0.isTLSOpen = { false } }))
        #expect(!isUnprocessed(Self.facts { $0.words = "Recv failure" }))
        // From 8.17 on, the text names the refusal.
        #expect(!isUnprocessed(Self.facts(), Self.newestTexts))
    }

    @Test func aRequestThatDiedOnABrokenConnectionIsNotUnprocessed() {
        var log = Self.sent()
        _ = log.record(.died, Self.texts7, Self.facts { $0.isBroken = true })
        #expect(log.outcome == .broken)
        #expect(!log.isUnprocessed(lastStream: nil))
    }

    @Test func onlyIn7_88AConnectionThatClosesForNoReasonWasBroken() {
        func outcome(_ facts: Facts, full isFull: Bool = false, _ texts: CurlLogTexts = Self.texts7)
            -> CurlStreamLog.Outcome?
        {
            var log = Self.sent()
            if isFull { _ = log.record(.full, texts, facts) }
            _ = log.record(.closing, texts, facts)
            return log.outcome
        }
        #expect(outcome(Self.facts()) == .broken)
        #expect(outcome(Self.facts(), full: true) == nil)
        #expect(outcome(Self.facts { $0.lastStream = 5 }) == nil)
        #expect(outcome(Self.facts { $0.isClosing = true }) == nil)
        #expect(outcome(Self.facts { $0.isTLSOpen = { false } }) == nil)
        #expect(outcome(Self.facts { $0.isBodySent = false }) == nil)
        #expect(outcome(Self.facts { $0.isSent = false }) == nil)
        #expect(outcome(Self.facts { $0.hasConnection = false }) == nil)
        #expect(outcome(Self.facts(), Self.texts8) == nil)
    }

    @Test func onlyIn7_88AnEmptyReplyOnAnOpenConnectionWasAViolation() {
        func outcome(_ facts: Facts, downgraded isDowngraded: Bool = false, _ texts: CurlLogTexts = Self.texts7)
            -> CurlStreamLog.Outcome?
        {
            var log = Self.sent()
            if isDowngraded { _ = log.record(.downgraded, texts, facts) }
            _ = log.record(.empty, texts, facts)
            return log.outcome
        }
        let empty = Self.facts { $0.words = CurlLogTexts.emptyReply }
        #expect(outcome(empty) == .broken)
        #expect(outcome(empty, downgraded: true) == nil)
        #expect(outcome(empty, Self.texts8) == nil)
        #expect(outcome(Self.facts()) == nil)
        #expect(outcome(Self.facts { ($0.words, $0.hasEnded) = (CurlLogTexts.emptyReply, true) }) == nil)
        #expect(outcome(Self.facts { ($0.words, $0.lastStream) = (CurlLogTexts.emptyReply, 5) }) == nil)
    }

    @Test func aConnectionThatIsKeptWasNotBroken() {
        var log = Self.sent()
        _ = log.record(.closing, Self.texts7, Self.facts())
        _ = log.record(.kept, Self.texts7, Self.facts())
        #expect(log.outcome == nil)
    }

    @Test func aFurtherSendForgetsTheLastOneButNotThatTheLogIsOn() {
        var log = Self.sent()
        log.turnOn()
        for line in [CurlStreamLog.Line.unsent, .closed, .full, .downgraded, .refusedStream(5)] {
            _ = log.record(line, Self.texts7, Self.facts())
        }
        #expect(log.isUnsent && log.isClosed && log.isDowngraded && log.outcome != nil)
        log.beginSend(in: 2)
        #expect(!log.isUnsent && !log.isClosed && !log.isDowngraded && log.outcome == nil && log.stream == nil)
        #expect(log.isOn)
    }
}
