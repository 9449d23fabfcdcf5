// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

/// Reading facts about a stream from libcurl's log.
struct CurlStreamLogTests {
    private func line(_ text: String) -> CurlStreamLog.Line? {
        Array(text.utf8).withUnsafeBytes { CurlStreamLog.line($0) }
    }

    @Test func readsTheRelevantLines() {
        #expect(line("Using Stream ID: 163 (easy handle 0x7f49)\n") == .stream(163))
        #expect(line("recveived GOAWAY, error=0, last_stream=161\n") == .goAway(lastStream: 161, error: 0))
        #expect(
            line("recveived GOAWAY, error=11, last_stream=2147483647\n") == .goAway(lastStream: 0x7FFF_FFFF, error: 11)
        )
        #expect(line("REFUSED_STREAM, retrying a fresh connect\n") == .refused)
        #expect(line("Connection died, retrying a fresh connect (retry count: 1)\n") == .died)
        #expect(line("Empty reply from server\n") == .empty)
        #expect(line("Downgrades to HTTP/1.1\n") == .downgraded)
        #expect(line("stream 1 closed\n") == .closed)
        #expect(line("Connection cache is full, closing the oldest one\n") == .full)
        #expect(line("Closing connection 0\n") == .closing)
        #expect(line("Connection #12 to host 127.0.0.1 left intact\n") == .kept)
        #expect(line("Failed sending HTTP POST request\n") == .unsent)
    }

    @Test(arguments: [
        "", "Using Stream ID: ", "Using Stream ID: 99999999999", "recveived GOAWAY, error=0",
        "Failed sending HTTP2 data",
        "recveived GOAWAY, error=0, last=1", "stream 1 opened", "stream  closed", "Closing",
        "Connection #0 isn't open enough, can't reuse", "Rebuilt",
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
