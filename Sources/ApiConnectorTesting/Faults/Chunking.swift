// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// How a body is cut into chunks.
struct Chunking: Sendable, Hashable, CustomStringConvertible {
    private enum Content: Sendable, Hashable {
        case every(Int)
        case at([Int])
    }

    private let content: Content

    /// Chunks of `byteCount` bytes.
    static func every(_ byteCount: Int) -> Chunking { Chunking(content: .every(max(byteCount, 1))) }

    /// Cuts at the given offsets.
    static func at(_ offsets: [Int]) -> Chunking { Chunking(content: .at(offsets.sorted())) }

    var description: String {
        switch content {
        case .every(let count): count == 1 ? "chunks of 1 byte" : "chunks of \(count) bytes"
        case .at(let offsets): "cut at \(offsets.map(String.init).joined(separator: ", "))"
        }
    }

    /// Cuts a part of a body.
    ///
    /// - Parameter offset: The offset of the part in the body.
    func cut(_ chunk: Data, at offset: Int) -> [Data] {
        var pieces: [Data] = []
        var start = offset
        let end = offset + chunk.count
        while start < end {
            let next = min(boundary(after: start), end)
            pieces.append(chunk.dropFirst(start - offset).prefix(next - start))
            start = next
        }
        return pieces
    }

    /// The first of the sorted offsets that is greater than `offset`.
    ///
    /// It uses a binary search, because a large body may have many offsets.
    private static func first(in offsets: [Int], after offset: Int) -> Int? {
        var range = 0..<offsets.count
        while let middle = range.isEmpty ? nil : (range.lowerBound + range.upperBound) / 2 {
            range = offsets[middle] > offset ? range.lowerBound..<middle : middle + 1..<range.upperBound
        }
        return range.lowerBound < offsets.count ? offsets[range.lowerBound] : nil
    }

    private func boundary(after offset: Int) -> Int {
        switch content {
        case .every(let count): (offset / count + 1) * count
        case .at(let offsets): Self.first(in: offsets, after: offset) ?? .max
        }
    }
}

extension Chunking {
    /// All chunkings to test for some bodies.
    ///
    /// - Chunks of 1 to 16 bytes, then of 32, 64, 128 … bytes.
    /// - Cuts at all hostile offsets at once.
    /// - A single cut: at each offset of a body of up to 512 bytes, and at up to 512 evenly spread hostile offsets of a
    ///   longer body.
    static func all(of bodies: [Data]) -> [Chunking] {
        let longest = bodies.map(\.count).max() ?? 0
        var sizes = Array(1..<max(min(longest, 17), 1))
        while let last = sizes.last, last >= 16, last * 2 < longest { sizes.append(last * 2) }
        let hostile = Set(bodies.flatMap(hostileOffsets)).sorted()
        let short = bodies.map(\.count).filter { $0 <= 512 }.max() ?? 0
        let count = min(hostile.count, 512)
        let taken = (0..<count).map { hostile[$0 * hostile.count / count] }
        let single = Set(taken).union(1..<max(short, 1)).sorted()
        return sizes.map { .every($0) } + (hostile.isEmpty ? [] : [.at(hostile)]) + single.map { .at([$0]) }
    }

    /// The offsets where a cut may break a parser: inside a character, an escape, a number, a line ending or an event's
    /// frame.
    static func hostileOffsets(of body: Data) -> [Int] {
        let bytes = Array(body)
        return bytes.indices.dropFirst().filter { index in
            let (before, after) = (bytes[index - 1], bytes[index])
            return after & 0xC0 == 0x80 || framing.contains(before) || framing.contains(after)
                || numeric.contains(before) && numeric.contains(after)
                || bytes[max(index - 5, 0)..<index].contains(UInt8(ascii: "\\"))
        }
    }

    /// CR, LF, the record separator of JSON text sequences, and the colon of a field.
    private static let framing: Set<UInt8> = [0x0D, 0x0A, 0x1E, UInt8(ascii: ":")]
    private static let numeric = Set("0123456789+-.eE".utf8)
}
