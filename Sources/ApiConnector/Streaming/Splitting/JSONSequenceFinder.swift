// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// JSON text sequences (RFC 7464): each text has a record separator before it and white space after it.
///
/// A text is delivered at its own end, without waiting for the next text:
///
/// - a container or a string at its closing bracket or quote
/// - a number or a word at the white space after it
/// - a truncated or invalid text at the next separator
///
/// White space between texts is skipped.
struct JSONSequenceFinder: RecordFinder {
    private enum Phase {
        case between
        /// Within a container or a string.
        case enclosed
        /// Within a number or a word.
        case word
        /// Within text that is not JSON.
        case broken
    }

    /// Whether the last record had its own end.
    private(set) var isWhole = false

    private var phase = Phase.between
    private var scanner = JSONScanner()
    /// The index of the next separator in this chunk; -1 if unknown.
    private var separator = -1

    mutating func startChunk() {
        separator = -1
    }

    mutating func cut(_ chunk: UnsafeRawBufferPointer, from place: Int) -> RecordCut {
        if case .between = phase {
            var start = place
            while start < chunk.count, chunk[start] == Self.separator || chunk[start].isJSONSpace { start += 1 }
            if start < chunk.count { begin(chunk[start]) }
            if start > place { return .skip(to: start) }
        }
        if separator < place { separator = chunk.place(of: Self.separator, from: place) }
        if let end = end(UnsafeRawBufferPointer(rebasing: chunk[..<separator]), from: place) {
            phase = .between
            isWhole = true
            return .record(end: end, next: end)
        }
        guard separator < chunk.count else { return .needsBytes }
        phase = .between
        return .record(end: separator, next: separator + 1)
    }

    private static let separator: UInt8 = 0x1E

    private mutating func begin(_ byte: UInt8) {
        isWhole = false
        switch byte {
        case UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: "\""):
            scanner.startText()
            phase = .enclosed
        default:
            phase = .word
        }
    }

    /// The end of the text that continues at an index; nil if these bytes do not contain it.
    private mutating func end(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        switch phase {
        case .word:
            return (start..<bytes.count).first { bytes[$0].isJSONSpace }.map { $0 + 1 }
        case .enclosed:
            switch scanner.scan(bytes, from: start) {
            case .ended(let end): return end
            case .running: return nil
            case .separator, .closed, .flaw:
                phase = .broken
                return nil
            }
        case .between, .broken:
            return nil
        }
    }
}
