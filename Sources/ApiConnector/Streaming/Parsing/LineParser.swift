// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

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
