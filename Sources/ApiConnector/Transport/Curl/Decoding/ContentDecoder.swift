// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Decodes a body with one content coding; used by one thread at a time.
protocol ContentDecoder: AnyObject {
    /// Consumes input and writes output; the work is bounded by the lengths of both.
    ///
    /// - Parameters:
    ///   - input: The bytes that were not consumed yet; empty to request output that did not fit.
    ///   - output: The buffer for the output; never empty.
    func step(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> DecodingStep
}

/// The result of one step of a decoder.
struct DecodingStep {
    /// The number of consumed bytes.
    var consumedByteCount = 0
    /// The number of written bytes.
    var producedByteCount = 0
    /// Whether the coded data is complete, so that the body may end here.
    var isAtEnd = false
    /// Why the data cannot be decoded, in the library's words; nil if it can.
    var fault: String?
}

extension UnsafeRawBufferPointer {
    /// The bytes from an index on.
    func rest(from place: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[place...])
    }
}

extension UnsafeMutableRawBufferPointer {
    /// The bytes from an index on.
    func rest(from place: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: self[place...])
    }
}
