// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Lines that end with LF, CR or CR LF, as the WHATWG defines them for server-sent events.
///
/// A line ends at its CR, without waiting for the next byte; an LF after the CR belongs to the same line.
struct LineFinder: RecordFinder {
    private var isBehindReturn = false
    /// The indices of the next LF and CR in this chunk, so that no byte is read twice; -1 if unknown.
    private var feed = -1
    private var carriageReturn = -1

    mutating func startChunk() {
        feed = -1
        carriageReturn = -1
    }

    @inline(__always)
    mutating func cut(_ chunk: UnsafeRawBufferPointer, from place: Int) -> RecordCut {
        if isBehindReturn {
            isBehindReturn = false
            if chunk[place] == 0x0A { return .skip(to: place + 1) }
        }
        if feed < place { feed = chunk.place(of: 0x0A, from: place) }
        if carriageReturn < place { carriageReturn = chunk.place(of: 0x0D, from: place) }
        if carriageReturn < feed {
            isBehindReturn = true
            return .record(end: carriageReturn, next: carriageReturn + 1)
        }
        return feed < chunk.count ? .record(end: feed, next: feed + 1) : .needsBytes
    }
}
