// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Lines that end with LF, CR or CR LF, as the WHATWG has them for server-sent events.
///
/// A line ends with its CR already, so that nobody waits for what follows; an LF behind it belongs to it.
struct LineFinder: RecordFinder {
    private var isBehindReturn = false
    /// The places of the next of both in this chunk, so that no byte is looked at twice; -1 where it is not known.
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
