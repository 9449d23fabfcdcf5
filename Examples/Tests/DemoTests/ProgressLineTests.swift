// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing
import Walkthrough

struct ProgressLineTests {
    @Test func isALineEachTenthWhereItCannotBeDrawnOver() {
        var text = ""
        let line = ProgressLine(isTerminal: false, write: { text += $0 })
        for count in 0...100 {
            line.show(TransferProgress(byteCount: count * 50_000, totalByteCount: 5_000_000, bytesPerSecond: 1))
        }
        line.end()
        line.show(250, of: 1000, "rows")
        line.show(TransferProgress(byteCount: 1))
        #expect(text.split(separator: "\n").count == 11)
        #expect(text.hasPrefix(" 10 %  0.5 MB of 5.0 MB\n 20 %  1.0 MB of 5.0 MB\n"))
        #expect(text.hasSuffix("100 %  5.0 MB of 5.0 MB\n 25 %  250 of 1000 rows\n"))
    }

    @Test func isABarOnATerminal() {
        var text = ""
        let line = ProgressLine(isTerminal: true, write: { text += $0 })
        line.show(TransferProgress(byteCount: 2_500_000, totalByteCount: 5_000_000, bytesPerSecond: 500_000))
        line.end()
        let bar = String(repeating: "█", count: 15) + String(repeating: "░", count: 15)
        #expect(text == "\r\u{1B}[2K\(bar) 50 %  2.5 MB of 5.0 MB, 0.5 MB/s, 5s to go\n")
    }
}
