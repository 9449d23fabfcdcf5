// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The part of a resource in a response: `bytes 0-99/1000` (RFC 9110, section 14.4).
struct ContentRange: Sendable, Hashable {
    /// The positions of the response's bytes; nil if the requested range does not exist, `bytes */1000`.
    let range: Range<Int>?

    /// The length of the whole resource; nil if the server does not know it, `bytes 0-99/*`.
    let totalByteCount: Int?

    /// Parses a field's value; nil for a unit other than bytes, and for contradictory numbers.
    init?(_ text: String) {
        let words = text.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 2, words[0].count == 5,
            words[0].elementsEqual("bytes".utf8, by: { $0 | 0x20 == $1 })
        else { return nil }
        let sides = words[1].split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        let (span, total) = (sides[0], sides[1])
        totalByteCount = Self.number(total)
        guard totalByteCount != nil || Self.isStar(total) else { return nil }
        if Self.isStar(span) {
            range = nil
            guard totalByteCount != nil else { return nil }
        } else {
            let ends = span.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false).map {
                Self.number($0)
            }
            guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last,
                last < totalByteCount ?? .max
            else { return nil }
            range = first..<last + 1
        }
    }

    private static func isStar(_ text: Substring.UTF8View) -> Bool {
        text.elementsEqual([UInt8(ascii: "*")])
    }

    private static func number(_ text: Substring.UTF8View) -> Int? {
        text.allSatisfy(ByteSet.decimalDigits.contains) ? Int(Substring(text)) : nil
    }
}
