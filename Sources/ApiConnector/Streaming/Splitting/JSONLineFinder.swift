// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// JSON Lines and NDJSON: JSON texts, each followed by a line feed.
///
/// White space before a text and blank lines are skipped. White space after a text is kept, including the CR of a CR
/// LF, because JSON allows it.
struct JSONLineFinder: RecordFinder {
    private var isWithinRecord = false

    @inline(__always)
    mutating func cut(_ chunk: UnsafeRawBufferPointer, from place: Int) -> RecordCut {
        if !isWithinRecord {
            var start = place
            while start < chunk.count, chunk[start].isJSONSpace { start += 1 }
            isWithinRecord = start < chunk.count
            if start > place { return .skip(to: start) }
        }
        let end = chunk.place(of: 0x0A, from: place)
        guard end < chunk.count else { return .needsBytes }
        isWithinRecord = false
        return .record(end: end, next: end + 1)
    }
}

extension UInt8 {
    /// RFC 8259, section 2, "ws".
    @inline(__always)
    var isJSONSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}
