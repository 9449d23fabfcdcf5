// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Reads over JSON values by their strings and brackets alone, in bytes that come chunk by chunk.
struct JSONScanner: Sendable {
    enum Stop {
        /// The chunk ended first.
        case running
        /// The quote or bracket that ends a string or container, before this place.
        case ended(Int)
        /// A comma behind the value.
        case separator(Int)
        /// The bracket of the container that the value is in.
        case closed(Int)
        case flaw(at: Int, String)
    }

    /// The same depth that Foundation's decoder accepts.
    static let maximumDepth = 512

    static var tooDeep: String { "the JSON text is nested deeper than \(maximumDepth) levels" }

    static var unopened: String { "a closing bracket has no opening bracket" }

    /// How many containers are open.
    private(set) var depth = 0
    /// How many were where the value began.
    private var baseDepth = 0
    private var isInString = false
    private var isEscaped = false
    /// One bit a container: set for an object.
    private var objects = [UInt64](repeating: 0, count: maximumDepth / 64)

    /// What follows is a value, or several with commas between them.
    mutating func startValue() {
        baseDepth = depth
    }

    /// What follows is its own text, whatever came before.
    mutating func startText() {
        depth = 0
        baseDepth = 0
        isInString = false
        isEscaped = false
    }

    /// Goes into a container; false where it is one too deep.
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

    /// Goes on to the end of the value, or of the chunk; a number or word does not show its own end.
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

    /// Goes on to the quote that ends the string.
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

    /// Goes on to the next quote or backslash, eight bytes at a time.
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

    /// Goes on to the next quote, comma or bracket.
    @inline(__always)
    private static func skipPlain(_ chunk: UnsafeRawBufferPointer, _ place: inout Int) {
        while place < chunk.count, !chunk[place].isQuoteOrBracket, chunk[place] != UInt8(ascii: ",") { place += 1 }
    }

    /// Goes on to the next quote or bracket: within a value's own containers commas mean nothing.
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
    /// The highest bit of each byte that is this one; bytes above the first such may be marked falsely.
    @inline(__always)
    fileprivate func marks(of byte: UInt8) -> UInt64 {
        let difference = self ^ (0x0101_0101_0101_0101 &* UInt64(byte))
        return (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080
    }
}
