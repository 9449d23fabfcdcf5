// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Finds the ends of a format's records in chunks of bytes; ``RecordSplitter`` does the rest.
///
/// It is a pure state machine: it reads each byte once, in order, and stores its state between chunks.
protocol RecordFinder: Sendable {
    /// Discards stored indices of the last chunk, because the next call of `cut` gets a new chunk.
    mutating func startChunk()

    /// Searches from an index on, where the current record begins or continues.
    mutating func cut(_ chunk: UnsafeRawBufferPointer, from place: Int) -> RecordCut

    /// Why the bytes must not end here; nil if they may end, and the rest is then a record.
    func flawAtEnd() -> String?
}

extension RecordFinder {
    mutating func startChunk() {}
    func flawAtEnd() -> String? { nil }
}

/// The result of a finder for the bytes from an index on.
enum RecordCut {
    /// The bytes up to `to` belong to no record; never returned within a record.
    case skip(to: Int)

    /// The current record ends before `end`, and the following bytes begin at `next`.
    case record(end: Int, next: Int)

    /// All bytes belong to the current record, which continues.
    case needsBytes

    /// The bytes do not match the format.
    case flaw(at: Int, String)

    /// A byte of the current record does not match the format.
    case flawInRecord(at: Int, String)

    /// The bytes that belong to no record are more than the finder may keep.
    case tooLarge(String)
}

extension UnsafeRawBufferPointer {
    /// The index of the first byte with this value, from an index on; the count if there is none.
    @inline(__always)
    func place(of byte: UInt8, from start: Int) -> Int {
        guard let base = baseAddress, start < count, let found = memchr(base + start, Int32(byte), count - start) else {
            return count
        }
        return UnsafeRawPointer(found) - base
    }
}
