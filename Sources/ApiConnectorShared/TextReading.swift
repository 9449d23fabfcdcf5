// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A text after decoding.
package struct TextReading {
    package let bytes: [UInt8]
    /// For each byte, its offset in the text before decoding; the last element is the offset of the text's end.
    let starts: [Int]

    private static let maximumDepth = 4

    /// All readings of a text: the text itself, the results of decoding it up to four times in any way, and three
    /// results of decoding it to any depth.
    ///
    /// Of the last three, the first is without percent-encoding, the second also without escapes, and the third also
    /// without XML entities. These three are not sufficient: if a text already looked encoded before it was encoded,
    /// they decode it too far.
    package static func all(of bytes: [UInt8]) -> [TextReading] {
        let text = TextReading(bytes: bytes, starts: Array(0...bytes.count))
        guard bytes.contains(where: { TextEncoding(rawValue: $0) != nil }) else { return [text] }
        var readings = [text]
        var known: Set<[UInt8]> = [bytes]
        var newest = readings
        for _ in 0..<maximumDepth where !newest.isEmpty {
            newest = newest.flatMap { reading in TextEncoding.allCases.compactMap(reading.decodedOnce) }
                .filter { known.insert($0.bytes).inserted }
            readings += newest
        }
        // If a result does not contain the first byte of an encoding, decoding that encoding too changes nothing.
        var deepest = text
        for (index, encoding) in TextEncoding.allCases.enumerated() where deepest.bytes.contains(encoding.rawValue) {
            deepest = text.decodedToAnyDepth(Array(TextEncoding.allCases[...index]))
            if known.insert(deepest.bytes).inserted { readings.append(deepest) }
        }
        return readings
    }

    /// A text, and the results of decoding it once with each encoding.
    package static func decodedOnce(_ bytes: [UInt8]) -> [[UInt8]] {
        guard bytes.contains(where: { TextEncoding(rawValue: $0) != nil }) else { return [bytes] }
        let text = TextReading(bytes: bytes, starts: Array(0...bytes.count))
        return [bytes] + TextEncoding.allCases.compactMap { text.decodedOnce($0)?.bytes }
    }

    /// The text without one level of an encoding; nil if it has none.
    private func decodedOnce(_ encoding: TextEncoding) -> TextReading? {
        guard var mark = bytes.firstIndex(of: encoding.rawValue) else { return nil }
        var decoded = Writer(capacity: bytes.count)
        var index = 0
        while true {
            decoded.append(bytes[index..<mark], starts[index..<mark])
            index = mark
            guard index < bytes.count else { break }
            if let (new, count) = encoding.character(at: index, of: bytes) {
                decoded.append(new[...], repeatElement(starts[index], count: new.count))
                index += count
                mark = index
            } else {
                mark = index + 1
            }
            mark = bytes[mark...].firstIndex(of: encoding.rawValue) ?? bytes.count
        }
        // A decoded text is always shorter.
        return decoded.bytes.count == bytes.count ? nil : decoded.reading(endingAt: starts[bytes.count])
    }

    /// The text with all levels of the encodings decoded.
    ///
    /// Each complete character is decoded immediately, and the result may complete another character.
    private func decodedToAnyDepth(_ encodings: [TextEncoding]) -> TextReading {
        var decoded = Writer(capacity: bytes.count)
        var index = 0
        while index < bytes.count {
            if decoded.hasOpenEnd || TextEncoding(rawValue: bytes[index]) != nil {
                decoded.append(bytes[index], starts[index])
                while decoded.decodeEnd(encodings) {}
                index += 1
            } else {
                // Plain bytes are copied at once, which takes 0.75 of the time.
                let start = index
                while index < bytes.count, TextEncoding(rawValue: bytes[index]) == nil { index += 1 }
                decoded.append(bytes[start..<index], starts[start..<index])
            }
        }
        return decoded.reading(endingAt: starts[bytes.count])
    }
}

extension TextReading {
    /// A reading under construction.
    private struct Writer {
        private(set) var bytes: [UInt8] = []
        private var starts: [Int] = []
        /// Above this number of bytes, no encoded character can end at the last byte.
        ///
        /// The last `%`, `\` or `&` is then too far from the end.
        private var openEnd = 0

        init(capacity: Int) {
            bytes.reserveCapacity(capacity)
            starts.reserveCapacity(capacity + 1)
        }

        /// Whether the next byte can complete an encoded character.
        var hasOpenEnd: Bool { bytes.count < openEnd }

        /// Appends bytes that are not encoded.
        mutating func append(_ bytes: ArraySlice<UInt8>, _ starts: some Collection<Int>) {
            self.bytes += bytes
            self.starts += starts
        }

        /// Appends a byte that may be part of an encoded character.
        mutating func append(_ byte: UInt8, _ start: Int) {
            bytes.append(byte)
            starts.append(start)
            guard byte == 0x25 || byte == 0x5C || byte == 0x26 else { return }
            openEnd = bytes.count - 1 + TextEncoding.byteCounts.upperBound
        }

        func reading(endingAt end: Int) -> TextReading {
            TextReading(bytes: bytes, starts: starts + [end])
        }

        /// Decodes the character that ends here, if there is one.
        mutating func decodeEnd(_ encodings: [TextEncoding]) -> Bool {
            guard bytes.count <= openEnd else { return false }
            // Within an encoded character, only the last byte can begin another one, as in `\\`.
            let first = max(0, bytes.count - TextEncoding.byteCounts.upperBound)
            var start = bytes.count - TextEncoding.byteCounts.lowerBound
            while start >= first, TextEncoding(rawValue: bytes[start]) == nil { start -= 1 }
            guard start >= first, let encoding = TextEncoding(rawValue: bytes[start]), encodings.contains(encoding),
                let (new, byteCount) = encoding.character(at: start, of: bytes), start + byteCount == bytes.count
            else { return false }
            let origin = starts[start]
            bytes.removeSubrange(start...)
            starts.removeSubrange(start...)
            for byte in new { append(byte, origin) }
            return true
        }
    }
}
