// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// JSON texts with one byte between them, a line feed or a record separator.
///
/// White space before a text is left out, and so is a record of nothing else; what stands behind a text stays.
struct DelimitedFinder: RecordFinder {
    /// JSON Lines and NDJSON: a line feed behind each text.
    ///
    /// The CR of a CR LF is white space to JSON.
    static let lines = DelimitedFinder(delimiter: 0x0A)

    /// JSON text sequences (RFC 7464): a record separator before each text.
    static let sequence = DelimitedFinder(delimiter: 0x1E)

    private let delimiter: UInt8
    private var isWithinRecord = false

    private init(delimiter: UInt8) {
        self.delimiter = delimiter
    }

    @inline(__always)
    mutating func cut(_ chunk: UnsafeRawBufferPointer, from place: Int) -> RecordCut {
        if !isWithinRecord {
            var start = place
            while start < chunk.count, chunk[start] == delimiter || chunk[start].isJSONSpace { start += 1 }
            isWithinRecord = start < chunk.count
            if start > place { return .skip(to: start) }
        }
        let end = chunk.place(of: delimiter, from: place)
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
