// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Writes a text byte by byte, on the stack as long as it is short.
///
/// Room is made once for each text that goes in, three bytes for each of its own, and not once for each byte.
struct ByteWriter {
    private var buffer: UnsafeMutableBufferPointer<UInt8>
    private var ownsBuffer = false
    private(set) var count = 0

    /// The text that a closure writes.
    static func text(_ write: (inout ByteWriter) -> Void) -> String {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 768) { stack in
            var writer = ByteWriter(buffer: stack)
            defer { if writer.ownsBuffer { writer.buffer.deallocate() } }
            write(&writer)
            return String(decoding: writer.bytes, as: UTF8.self)
        }
    }

    private init(buffer: UnsafeMutableBufferPointer<UInt8>) {
        self.buffer = buffer
    }

    /// What was written so far.
    var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: buffer[..<count]) }

    /// Whether a byte was written at a place or behind it.
    func contains(_ byte: UInt8, from start: Int) -> Bool {
        guard start < count, let base = buffer.baseAddress else { return false }
        return memchr(base + start, Int32(byte), count - start) != nil
    }

    /// Writes one byte.
    mutating func write(_ byte: UInt8) {
        makeRoom(for: 1)
        buffer[count] = byte
        count &+= 1
    }

    /// Writes the UTF-8 of a text.
    mutating func write(_ text: String) {
        text.withUTF8Bytes { source in
            makeRoom(for: source.count)
            count = UnsafeMutableBufferPointer(rebasing: buffer[count...]).update(fromContentsOf: source) + count
        }
    }

    /// Writes a text with every byte outside a set as `%` and two upper-case hexadecimal digits (RFC 3986, section 2.1).
    mutating func write(_ text: String, keeping kept: ByteSet) {
        text.withUTF8Bytes { source in
            makeRoom(for: 3 * source.count)
            let buffer = buffer
            var end = count
            for byte in source {
                if kept.contains(byte) {
                    buffer[end] = byte
                    end &+= 1
                } else {
                    buffer[end] = UInt8(ascii: "%")
                    buffer[end &+ 1] = Self.hexadecimalDigit(byte >> 4)
                    buffer[end &+ 2] = Self.hexadecimalDigit(byte & 15)
                    end &+= 3
                }
            }
            count = end
        }
    }

    /// Writes bytes without those in a range.
    mutating func write(_ source: [UInt8], leavingOut range: ClosedRange<UInt8>) {
        makeRoom(for: source.count)
        let buffer = buffer
        var end = count
        for byte in source {
            buffer[end] = byte
            if !range.contains(byte) { end &+= 1 }
        }
        count = end
    }

    /// Forgets what was written behind a place.
    mutating func truncate(to place: Int) {
        count = min(place, count)
    }

    private mutating func makeRoom(for byteCount: Int) {
        if byteCount > buffer.count - count { grow(by: byteCount) }
    }

    private mutating func grow(by byteCount: Int) {
        let larger = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 2 * buffer.count + byteCount)
        _ = larger.update(fromContentsOf: bytes)
        if ownsBuffer { buffer.deallocate() }
        buffer = larger
        ownsBuffer = true
    }

    /// The upper-case digit of a value from 0 to 15.
    static func hexadecimalDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}

extension String {
    /// Hands the text's UTF-8 to a closure, without a copy wherever the text is Swift's own.
    func withUTF8Bytes(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        if utf8.withContiguousStorageIfAvailable(body) == nil {
            var copy = self
            copy.withUTF8(body)
        }
    }
}
