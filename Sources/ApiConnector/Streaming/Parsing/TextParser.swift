// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// UTF-8 text in pieces that never split a character.
///
/// A piece's last character waits for the next bytes, which may extend it, unless it is a line break. A character of
/// more than ``maximumCharacterByteCount`` bytes does not occur in real text, and is delivered in pieces.
struct TextParser: ElementParser {
    static let maximumCharacterByteCount = 4096

    private var held: [UInt8] = []
    private var isAtStart = true
    private var isEnding = false

    mutating func append(_ chunk: Data) {
        held.append(contentsOf: chunk)
    }

    mutating func end() { isEnding = true }

    mutating func read(_ batch: inout [String], upTo count: Int) {
        skipByteOrderMark()
        let wholeCount = isEnding ? held.count : held.count - Self.openByteCount(held)
        guard !isAtStart, wholeCount > 0 else { return }
        var text = String(decoding: held[..<wholeCount], as: UTF8.self)
        var rest: [UInt8] = []
        if !isEnding, let last = text.last, !last.isEndOfLine {
            rest = Array(last.utf8)
            if rest.count > Self.maximumCharacterByteCount { rest = [] } else { text.removeLast() }
        }
        held.replaceSubrange(..<wholeCount, with: rest)
        if !text.isEmpty { batch.append(text) }
    }

    private mutating func skipByteOrderMark() {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        guard isAtStart, isEnding || held.count >= mark.count || !mark.starts(with: held) else { return }
        isAtStart = false
        if held.starts(with: mark) { held.removeFirst(mark.count) }
    }

    /// The number of bytes at the end that begin a scalar without completing it.
    private static func openByteCount(_ bytes: [UInt8]) -> Int {
        for count in 1...3 where count <= bytes.count {
            let byte = bytes[bytes.count - count]
            switch byte {
            case 0x80..<0xC0: continue
            case 0xC2..<0xE0: return count < 2 ? count : 0
            case 0xE0..<0xF0: return count < 3 ? count : 0
            case 0xF0..<0xF5: return count < 4 ? count : 0
            default: return 0
            }
        }
        return 0
    }
}

extension Character {
    /// Whether following bytes cannot extend the character: LF, alone or after CR.
    fileprivate var isEndOfLine: Bool { self == "\n" || self == "\r\n" }
}

/// Lines as text, without line breaks; the last line needs no line break.
struct LineParser: ElementParser {
    private var lines: LineDataParser

    init(maximumByteCount: Int) {
        lines = LineDataParser(maximumByteCount: maximumByteCount)
    }

    mutating func append(_ chunk: Data) { lines.append(chunk) }

    mutating func end() { lines.end() }

    mutating func read(_ batch: inout [String], upTo count: Int) throws(ApiConnectorError) {
        while batch.count < count, let line = try lines.next() { batch.append(String(decoding: line, as: UTF8.self)) }
    }
}

/// Lines as bytes.
struct LineDataParser: ElementParser {
    private var splitter: RecordSplitter<LineFinder>

    init(maximumByteCount: Int) {
        splitter = RecordSplitter(LineFinder(), maximumByteCount: maximumByteCount)
    }

    mutating func append(_ chunk: Data) { splitter.append(chunk) }

    mutating func end() { splitter.end() }

    mutating func next() throws(ApiConnectorError) -> Data? { try splitter.next() }

    mutating func read(_ batch: inout [Data], upTo count: Int) throws(ApiConnectorError) {
        while batch.count < count, let line = try splitter.next() { batch.append(line) }
    }
}

/// The chunks of a body as they arrive.
struct ChunkParser: ElementParser {
    private var chunk: Data?

    mutating func append(_ chunk: Data) {
        guard !chunk.isEmpty else { return }
        self.chunk = self.chunk.map { $0 + chunk } ?? chunk
    }

    mutating func end() {}

    mutating func read(_ batch: inout [Data], upTo count: Int) {
        if let chunk = chunk.take() { batch.append(chunk) }
    }
}
