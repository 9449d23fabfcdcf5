// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Decodes one body that came in one content coding; used by one thread at a time.
protocol ContentDecoder: AnyObject {
    /// Takes some of the input and writes some of the output; the work is bounded by the lengths of both.
    ///
    /// - Parameters:
    ///   - input: The bytes that were not taken before; empty to ask for output that had no room.
    ///   - output: Where to write; never empty.
    func step(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> DecodingStep
}

/// What a decoder has done at once.
struct DecodingStep {
    /// How much of the input was taken.
    var consumedByteCount = 0
    /// How much was written.
    var producedByteCount = 0
    /// Whether the coded data is whole, so that the body may end here.
    var isAtEnd = false
    /// Why the data cannot be decoded, in the library's words; nil where it can.
    var fault: String?
}

extension UnsafeRawBufferPointer {
    /// What follows a place.
    func rest(from place: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[place...])
    }
}

extension UnsafeMutableRawBufferPointer {
    /// What follows a place.
    func rest(from place: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: self[place...])
    }
}
