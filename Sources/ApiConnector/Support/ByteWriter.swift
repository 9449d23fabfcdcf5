// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Writes a text byte by byte, on the stack while it is short.
///
/// Capacity is reserved once per text, not per byte. Rare operations (a byte to encode, a larger buffer) return a new
/// writer instead of mutating this one, because a writer whose address escapes is not kept in registers.
struct ByteWriter {
    private let start: UnsafeMutablePointer<UInt8>
    private let capacity: Int
    private var isOnHeap = false
    private(set) var count = 0

    /// The text that a closure writes.
    @inline(__always)
    static func text(_ write: (inout ByteWriter) -> Void) -> String {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 768) { stack in
            guard let start = stack.baseAddress else { return "" }
            var writer = ByteWriter(start: start, capacity: stack.count)
            defer { if writer.isOnHeap { writer.start.deallocate() } }
            write(&writer)
            return String(decoding: writer.bytes, as: UTF8.self)
        }
    }

    private init(start: UnsafeMutablePointer<UInt8>, capacity: Int) {
        self.start = start
        self.capacity = capacity
    }

    /// The bytes written so far.
    var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: start, count: count) }

    /// Whether the bytes from an index on contain a given byte.
    @inline(__always)
    func contains(_ byte: UInt8, from place: Int) -> Bool {
        memchr(start + place, Int32(byte), count - place) != nil
    }

    /// Writes one byte.
    @inline(__always)
    mutating func write(_ byte: UInt8) {
        makeRoom(for: 1)
        start[count] = byte
        count &+= 1
    }

    /// Writes a number that is not negative.
    @inline(__always)
    mutating func write(_ number: Int) {
        var digitCount = 1
        var rest = number
        while rest >= 10 {
            rest /= 10
            digitCount &+= 1
        }
        makeRoom(for: digitCount)
        count &+= digitCount
        rest = number
        for place in 1...digitCount {
            start[count &- place] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }

    /// Writes the UTF-8 of a text.
    @inline(__always)
    mutating func write(_ text: String) {
        text.withUTF8Bytes { source in
            makeRoom(for: source.count)
            let end = start + count
            for index in 0..<source.count { end[index] = source[index] }
            count &+= source.count
        }
    }

    /// Writes a text, with every byte outside a set as `%` and two upper-case hexadecimal digits (RFC 3986, section
    /// 2.1).
    @inline(__always)
    mutating func write(_ text: String, keeping kept: ByteSet) {
        text.withUTF8Bytes { source in
            let keptCount = writePrefix(of: source, in: kept)
            if keptCount < source.count {
                self = appending(UnsafeBufferPointer(rebasing: source[keptCount...]), keeping: kept)
            }
        }
    }

    /// Writes a text if all of its bytes are in a set; otherwise writes nothing.
    @inline(__always)
    mutating func write(_ text: String, ifAllIn set: ByteSet) -> Bool {
        let before = count
        text.withUTF8Bytes { source in
            if writePrefix(of: source, in: set) < source.count { count = before }
        }
        return count > before
    }

    /// Writes a text's bytes up to the first byte outside a set, and returns their number.
    @inline(__always)
    private mutating func writePrefix(of source: UnsafeBufferPointer<UInt8>, in set: ByteSet) -> Int {
        makeRoom(for: source.count)
        let end = start + count
        var index = 0
        while index < source.count, set.contains(source[index]) {
            end[index] = source[index]
            index &+= 1
        }
        count &+= index
        return index
    }

    /// The writer with bytes appended, where each byte outside a set is encoded.
    @inline(never)
    private func appending(_ source: UnsafeBufferPointer<UInt8>, keeping kept: ByteSet) -> ByteWriter {
        var writer = self
        writer.makeRoom(for: 3 * source.count)
        for byte in source {
            if kept.contains(byte) {
                writer.write(byte)
            } else {
                writer.write(UInt8(ascii: "%"))
                writer.write(Self.hexadecimalDigit(byte >> 4))
                writer.write(Self.hexadecimalDigit(byte & 15))
            }
        }
        return writer
    }

    /// Removes the bytes from an index on.
    @inline(__always)
    mutating func truncate(to place: Int) {
        count = min(place, count)
    }

    @inline(__always)
    private mutating func makeRoom(for byteCount: Int) {
        if byteCount > capacity &- count { self = larger(by: byteCount) }
    }

    /// The writer with a larger capacity.
    @inline(never)
    private func larger(by byteCount: Int) -> ByteWriter {
        let capacity = 2 * capacity + byteCount
        var writer = ByteWriter(start: .allocate(capacity: capacity), capacity: capacity)
        writer.isOnHeap = true
        writer.start.update(from: start, count: count)
        writer.count = count
        if isOnHeap { start.deallocate() }
        return writer
    }

    /// The upper-case digit of a value from 0 to 15.
    static func hexadecimalDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}

extension String {
    /// Passes the text's UTF-8 to a closure, without a copy if the text is a native Swift string.
    @inline(__always)
    func withUTF8Bytes(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        if utf8.withContiguousStorageIfAvailable(body) == nil {
            var copy = self
            copy.withUTF8(body)
        }
    }
}
