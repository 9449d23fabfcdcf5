// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Endless bytes: a prefix, followed by a period that repeats.
struct EndlessData: Sendable {
    let start: [UInt8]
    let period: [UInt8]

    /// The first bytes: the prefix and as many periods as fit.
    func prefix(_ byteCount: Int) -> [UInt8] {
        start + periods(max(0, byteCount - start.count))
    }

    /// As many periods as fit, but at least one.
    func periods(_ byteCount: Int) -> [UInt8] {
        Array(repeatElement(period, count: max(1, byteCount / period.count)).joined())
    }

    /// The same bytes compressed as gzip, at a ratio of about 147 to 1.
    ///
    /// The result is also endless, so it needs no checksum.
    var gzip: EndlessData {
        deflated(after: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3])
    }

    /// The same bytes compressed in the zlib format, which HTTP calls `deflate`.
    var deflate: EndlessData {
        deflated(after: [0x78, 0x9C])
    }

    /// Compresses into one block with fixed codes (RFC 1951 section 3.2.6).
    ///
    /// The first period is written as literals. After it, there are only matches of 258 bytes at the distance of a
    /// period. The bits of these matches also repeat.
    private func deflated(after header: [UInt8]) -> EndlessData {
        var bits = BitWriter(bytes: header)
        bits.write(0b010, count: 3)
        for byte in start + period {
            byte < 144 ? bits.writeCode(0x30 + Int(byte), count: 8) : bits.writeCode(0x190 + Int(byte) - 144, count: 9)
        }
        let before = (bits.count + 7) / 8
        let matchBitCount = bits.writeLongestMatch(distance: period.count)
        for _ in 0..<16 { _ = bits.writeLongestMatch(distance: period.count) }
        // After eight matches, the bits are at the same position within a byte again.
        return EndlessData(
            start: Array(bits.bytes[..<before]),
            period: Array(bits.bytes[before..<before + matchBitCount])
        )
    }
}

/// Writes bits as deflate packs them, from the lowest bit of each byte.
private struct BitWriter {
    private(set) var bytes: [UInt8]
    private(set) var count: Int

    init(bytes: [UInt8]) {
        self.bytes = bytes
        count = 8 * bytes.count
    }

    mutating func write(_ value: Int, count bitCount: Int) {
        for bit in 0..<bitCount {
            if count % 8 == 0 { bytes.append(0) }
            bytes[count / 8] |= UInt8(value >> bit & 1) << (count % 8)
            count += 1
        }
    }

    /// Writes a Huffman code, which starts with its highest bit.
    mutating func writeCode(_ code: Int, count bitCount: Int) {
        for bit in (0..<bitCount).reversed() { write(code >> bit & 1, count: 1) }
    }

    /// Writes a match of 258 bytes, and returns its number of bits.
    mutating func writeLongestMatch(distance: Int) -> Int {
        let before = count
        writeCode(0b1100_0101, count: 8)
        let rest = distance - 1
        guard rest >= 4 else {
            writeCode(rest, count: 5)
            return count - before
        }
        let extraCount = Int.bitWidth - rest.leadingZeroBitCount - 2
        writeCode(2 * (extraCount + 1) + (rest >> extraCount & 1), count: 5)
        write(rest & ((1 << extraCount) - 1), count: extraCount)
        return count - before
    }
}
