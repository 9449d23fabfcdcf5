// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// JSON text sequences (RFC 7464): a record separator before each text, white space behind it.
///
/// A text ends where it shows its own end, so that nobody waits for the next one: a container or string at its bracket
/// or quote, a number or word with the white space behind it, and one that is cut off or broken before the next
/// separator. White space between texts is left out.
struct JSONSequenceFinder: RecordFinder {
    private enum Phase {
        case between
        /// Within a container or a string.
        case enclosed
        /// Within a number or a word.
        case word
        /// Within what is no JSON.
        case broken
    }

    /// Whether the last record has shown its own end.
    private(set) var isWhole = false

    private var phase = Phase.between
    private var scanner = JSONScanner()
    /// The place of the next separator in this chunk; -1 where it is not known.
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

    /// Where the text ends that goes on at a place; nil where these bytes do not say.
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
