// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Skips over JSON values in chunks of bytes, by their strings and brackets only.
struct JSONScanner: Sendable {
    enum Stop {
        /// The chunk ended before the end of the value.
        case running
        /// The index after the closing quote or bracket of a string or container.
        case ended(Int)
        /// A comma after the value.
        case separator(Int)
        /// The closing bracket of the container around the value.
        case closed(Int)
        case flaw(at: Int, String)
    }

    /// The maximum depth, the same as in Foundation's decoder.
    static let maximumDepth = 512

    static var tooDeep: String { "the JSON text is nested deeper than \(maximumDepth) levels" }

    static var unopened: String { "a closing bracket has no opening bracket" }

    /// The number of open containers.
    private(set) var depth = 0
    /// The number of open containers at the start of the value.
    private var baseDepth = 0
    private var isInString = false
    private var isEscaped = false
    /// One bit per container: set for an object.
    private var objects = [UInt64](repeating: 0, count: maximumDepth / 64)

    /// Starts a value, or several values separated by commas.
    mutating func startValue() {
        baseDepth = depth
    }

    /// Starts a separate text, regardless of the text before.
    mutating func startText() {
        depth = 0
        baseDepth = 0
        isInString = false
        isEscaped = false
    }

    /// Opens a container; returns false if it is nested too deep.
    mutating func open(_ bracket: UInt8) -> Bool {
        guard depth < Self.maximumDepth else { return false }
        let isObject = bracket == UInt8(ascii: "{")
        let bit = UInt64(1) << UInt64(depth & 63)
        if isObject { objects[depth >> 6] |= bit } else { objects[depth >> 6] &= ~bit }
        depth += 1
        return true
    }

    mutating func close() {
        depth -= 1
    }

    /// Scans to the end of the value or the chunk; a number or a word has no closing character.
    mutating func scan(_ chunk: UnsafeRawBufferPointer, from start: Int) -> Stop {
        var place = start
        while place < chunk.count {
            if isInString {
                readString(chunk, &place)
            } else if depth == baseDepth {
                Self.skipPlain(chunk, &place)
            } else {
                Self.skipWithin(chunk, &place)
            }
            guard place < chunk.count else { break }
            let byte = chunk[place]
            switch byte {
            case UInt8(ascii: "\""):
                isInString.toggle()
                if !isInString, depth == baseDepth { return .ended(place + 1) }
            case UInt8(ascii: ","):
                if depth == baseDepth { return .separator(place) }
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                guard open(byte) else { return .flaw(at: place, Self.tooDeep) }
            default:
                guard depth > 0, isOpen(byte) else { return .flaw(at: place, Self.unopened) }
                depth -= 1
                if depth <= baseDepth { return depth == baseDepth ? .ended(place + 1) : .closed(place) }
            }
            place += 1
        }
        return .running
    }

    private func isOpen(_ closing: UInt8) -> Bool {
        let isObject = objects[(depth - 1) >> 6] >> UInt64((depth - 1) & 63) & 1 == 1
        return isObject == (closing == UInt8(ascii: "}"))
    }

    /// Moves to the quote that ends the string.
    private mutating func readString(_ chunk: UnsafeRawBufferPointer, _ place: inout Int) {
        while place < chunk.count {
            if isEscaped {
                isEscaped = false
                place += 1
                continue
            }
            Self.skipText(chunk, &place)
            guard place < chunk.count, chunk[place] == UInt8(ascii: "\\") else { return }
            isEscaped = true
            place += 1
        }
    }

    /// Moves to the next quote or backslash, eight bytes at a time.
    @inline(__always)
    private static func skipText(_ chunk: UnsafeRawBufferPointer, _ place: inout Int) {
        while place + 8 <= chunk.count {
            let word = UInt64(littleEndian: chunk.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            let found = word.marks(of: UInt8(ascii: "\"")) | word.marks(of: UInt8(ascii: "\\"))
            guard found == 0 else {
                place += found.trailingZeroBitCount >> 3
                return
            }
            place += 8
        }
        while place < chunk.count, chunk[place] != UInt8(ascii: "\""), chunk[place] != UInt8(ascii: "\\") { place += 1 }
    }

    /// Moves to the next quote, comma or bracket.
    @inline(__always)
    private static func skipPlain(_ chunk: UnsafeRawBufferPointer, _ place: inout Int) {
        while place < chunk.count, !chunk[place].isQuoteOrBracket, chunk[place] != UInt8(ascii: ",") { place += 1 }
    }

    /// Moves to the next quote or bracket, because commas within the value's containers do not matter.
    @inline(__always)
    private static func skipWithin(_ chunk: UnsafeRawBufferPointer, _ place: inout Int) {
        while place < chunk.count, !chunk[place].isQuoteOrBracket { place += 1 }
    }
}

extension UInt8 {
    /// Brackets and braces differ by one bit.
    @inline(__always)
    fileprivate var isQuoteOrBracket: Bool {
        self == UInt8(ascii: "\"") || self | 0x20 == UInt8(ascii: "{") || self | 0x20 == UInt8(ascii: "}")
    }
}

extension UInt64 {
    /// The highest bit of each byte that equals `byte`; bytes above the first match may be marked wrongly.
    @inline(__always)
    fileprivate func marks(of byte: UInt8) -> UInt64 {
        let difference = self ^ (0x0101_0101_0101_0101 &* UInt64(byte))
        return (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080
    }
}

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
