// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A text as one who decodes it reads it.
struct TextReading {
    let bytes: [UInt8]
    /// Where in the text each byte begins; one more for the end.
    let starts: [Int]

    private static let maximumDepth = 4

    /// The text itself, what comes of decoding it up to four times, each time either way, and that to any depth.
    ///
    /// To any depth alone would not do: a text that was encoded once, and that looked encoded before, is decoded too
    /// far.
    static func all(of bytes: [UInt8]) -> [TextReading] {
        var readings = [TextReading(bytes: bytes, starts: Array(0...bytes.count))]
        var known: Set<[UInt8]> = []
        var newest = readings
        for _ in 0..<maximumDepth {
            newest = newest.flatMap(\.decodedOnce).filter { known.insert($0.bytes).inserted }
            if newest.isEmpty { break }
            readings += newest
        }
        guard bytes.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "&") })
        else { return readings }
        let units = TextUnit.units(of: bytes, decodesEntities: true)
        readings.append(TextReading(bytes: units.map(\.byte), starts: units.map(\.start) + [bytes.count]))
        return readings
    }

    private var decodedOnce: [TextReading] {
        [percentDecoded, unescaped].compactMap { $0 }
    }

    /// Without percent-encoding; nil where there is none.
    private var percentDecoded: TextReading? {
        decoded(from: UInt8(ascii: "%")) { index in
            guard index + 2 < bytes.count, let high = TextUnit.hexadecimal(bytes[index + 1]),
                let low = TextUnit.hexadecimal(bytes[index + 2])
            else { return nil }
            return ([high << 4 | low], 3)
        }
    }

    /// Without a JSON string's escapes; nil where there are none.
    private var unescaped: TextReading? {
        decoded(from: UInt8(ascii: "\\")) { index in
            guard index + 1 < bytes.count else { return nil }
            switch bytes[index + 1] {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return ([bytes[index + 1]], 2)
            case UInt8(ascii: "b"): return ([0x08], 2)
            case UInt8(ascii: "f"): return ([0x0C], 2)
            case UInt8(ascii: "n"): return ([0x0A], 2)
            case UInt8(ascii: "r"): return ([0x0D], 2)
            case UInt8(ascii: "t"): return ([0x09], 2)
            case UInt8(ascii: "u"): return codePoint(at: index)
            default: return nil
            }
        }
    }

    /// `\u00e9`, or `\ud83d\udd11`, which is one character.
    private func codePoint(at index: Int) -> (bytes: [UInt8], count: Int)? {
        func unit(_ index: Int) -> UInt16? {
            guard index + 5 < bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u")
            else { return nil }
            return bytes[index + 2...index + 5].reduce(0 as UInt16?) { code, byte in
                guard let code, let digit = TextUnit.hexadecimal(byte) else { return nil }
                return code << 4 | UInt16(digit)
            }
        }
        guard let first = unit(index) else { return nil }
        let isPair = UTF16.isLeadSurrogate(first)
        guard isPair, let second = unit(index + 6), UTF16.isTrailSurrogate(second) else {
            return (Array(String(decoding: [first], as: UTF16.self).utf8), 6)
        }
        return (Array(String(decoding: [first, second], as: UTF16.self).utf8), 12)
    }

    /// Puts other bytes in place of what begins with a mark; nil where nothing does.
    private func decoded(
        from mark: UInt8,
        _ decode: (_ index: Int) -> (bytes: [UInt8], count: Int)?
    ) -> TextReading? {
        guard bytes.contains(mark) else { return nil }
        var bytes: [UInt8] = []
        var starts: [Int] = []
        bytes.reserveCapacity(self.bytes.count)
        starts.reserveCapacity(self.starts.count)
        var index = 0
        while index < self.bytes.count {
            if self.bytes[index] == mark, let (new, count) = decode(index) {
                bytes += new
                starts += Array(repeating: self.starts[index], count: new.count)
                index += count
            } else {
                bytes.append(self.bytes[index])
                starts.append(self.starts[index])
                index += 1
            }
        }
        guard bytes.count != self.bytes.count || bytes != self.bytes else { return nil }
        return TextReading(bytes: bytes, starts: starts + [self.starts[self.bytes.count]])
    }
}
