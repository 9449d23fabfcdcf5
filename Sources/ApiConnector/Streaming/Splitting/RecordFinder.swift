// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Finds where a format's records end, in bytes that come chunk by chunk; ``RecordSplitter`` does everything else.
///
/// A pure state machine: it sees each byte once, in order, and remembers between chunks what it has to.
protocol RecordFinder: Sendable {
    /// Forgets places in the last chunk: the next call of `cut` is about another one.
    mutating func startChunk()

    /// Looks on from a place, where the current record begins or goes on.
    mutating func cut(_ chunk: UnsafeRawBufferPointer, from place: Int) -> RecordCut

    /// Whether the bytes may end here; nil where they may, a rest being a record, else what is wrong.
    func flawAtEnd() -> String?
}

extension RecordFinder {
    mutating func startChunk() {}
    func flawAtEnd() -> String? { nil }
}

/// What a finder says about the bytes from a place on.
enum RecordCut {
    /// Those up to `to` belong to no record; never said within one.
    case skip(to: Int)

    /// The current record ends before `end`, and what follows it begins at `next`.
    case record(end: Int, next: Int)

    /// All of them belong to the current record, and it goes on.
    case needsBytes

    /// They are not what the format allows.
    case flaw(at: Int, String)

    /// The same, of a byte of the current record.
    case flawInRecord(at: Int, String)
}

extension UnsafeRawBufferPointer {
    /// The place of the first such byte from a place on; the count where there is none.
    @inline(__always)
    func place(of byte: UInt8, from start: Int) -> Int {
        guard let base = baseAddress, start < count, let found = memchr(base + start, Int32(byte), count - start) else {
            return count
        }
        return UnsafeRawPointer(found) - base
    }
}
