// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Splits a body's bytes into records, for all formats.
///
/// It takes linear time, however the bytes are divided into chunks. A record within one chunk is not copied. Of any
/// other record, at most `maximumByteCount` bytes are buffered. A byte order mark at the start is skipped.
struct RecordSplitter<Finder: RecordFinder>: Sendable {
    private enum Place {
        case inChunk(Range<Int>)
        case carried(Data)
    }

    /// The number of records found.
    private(set) var recordCount: Int

    /// The offset of the last record, in bytes from the start of the body; after an error, that of the record that is
    /// too long.
    private(set) var recordOffset = 0

    private(set) var finder: Finder
    private let maximumByteCount: Int
    private var chunk = Data()
    /// The offset of the chunk, in bytes from the start of the body.
    private var chunkOffset: Int
    /// The index of the chunk's first unread byte.
    private var start = 0
    /// The bytes of the current record from earlier chunks.
    private var carry = Data()
    /// The body's first bytes, while they may become a byte order mark; then nil.
    private var opening: Data? = Data()
    private var isEnding = false
    /// Whether no record follows, after the end or an error.
    private(set) var isOver = false

    /// - Parameters:
    ///   - maximumByteCount: The maximum size of a record, in bytes.
    ///   - position: Where in the body the appended bytes begin; the start of the body by default.
    init(_ finder: Finder, maximumByteCount: Int, from position: RecordPosition = RecordPosition()) {
        self.finder = finder
        self.maximumByteCount = maximumByteCount
        recordCount = position.recordCount
        chunkOffset = position.offset
        if position.offset > 0 { opening = nil }
    }

    /// The position of the first record that is not complete yet.
    var position: RecordPosition { RecordPosition(offset: unfinishedOffset, recordCount: recordCount) }

    private var unfinishedOffset: Int { offset - carry.count }

    private var offset: Int { chunkOffset + start }

    /// Appends the next bytes of the body.
    ///
    /// If `next()` has returned nil, no earlier chunk has unread bytes, so the new bytes are not copied.
    mutating func append(_ bytes: Data) {
        guard !bytes.isEmpty else { return }
        if opening != nil { open(bytes) } else { take(bytes) }
    }

    /// Marks the end of the bytes: the rest is a record, if the format allows it.
    mutating func end() {
        if let rest = opening.take(), !rest.isEmpty { take(rest) }
        isEnding = true
    }

    /// The next record; nil if more bytes are needed, or at the end.
    ///
    /// - Throws: ``ApiConnectorError`` of kind `.recordTooLarge` or `.decodingFailed`; no record follows.
    mutating func next() throws(ApiConnectorError) -> Data? {
        switch try find() {
        case .inChunk(let place): chunk[chunk.startIndex + place.lowerBound..<chunk.startIndex + place.upperBound]
        case .carried(let record): record
        case nil: nil
        }
    }

    /// Calls a closure with the next record's bytes and the caller's state; returns nil like `next()`.
    @inline(__always)
    mutating func withNext<State, Value>(
        _ state: inout State,
        _ body: (inout State, UnsafeRawBufferPointer) -> Value
    ) throws(ApiConnectorError) -> Value? {
        switch try find() {
        case .inChunk(let place): chunk.withUnsafeBytes { body(&state, UnsafeRawBufferPointer(rebasing: $0[place])) }
        case .carried(let record): record.withUnsafeBytes { body(&state, $0) }
        case nil: nil
        }
    }

    private mutating func open(_ bytes: Data) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let bytes = opening.map { $0.isEmpty ? bytes : $0 + bytes } ?? bytes
        if bytes.count < mark.count, mark.starts(with: bytes) {
            opening = bytes
        } else {
            opening = nil
            take(bytes)
            if bytes.starts(with: mark) { start = mark.count }
        }
    }

    private mutating func take(_ bytes: Data) {
        chunkOffset += start
        chunk = start < chunk.count ? chunk.dropFirst(start) + bytes : bytes
        start = 0
        finder.startChunk()
    }

    private mutating func find() throws(ApiConnectorError) -> Place? {
        guard !isOver else { return nil }
        while start < chunk.count {
            switch chunk.withUnsafeBytes({ finder.cut($0, from: start) }) {
            case .skip(let place):
                start = place
            case .record(let end, let next):
                return try cut(end, next)
            case .needsBytes:
                try carry(to: chunk.count)
                start = chunk.count
            case .flawInRecord(let place, _) where place - start > maximumByteCount - carry.count:
                throw tooLarge()
            case .flaw(let place, let text), .flawInRecord(let place, let text):
                throw fail(at: chunkOffset + place, text)
            case .tooLarge(let text):
                isOver = true
                throw ApiConnectorError(.recordTooLarge, at: .response, text)
            }
        }
        return isEnding ? try cutRest() : nil
    }

    private mutating func cut(_ end: Int, _ next: Int) throws(ApiConnectorError) -> Place {
        defer { start = next }
        recordOffset = unfinishedOffset
        guard carry.isEmpty else {
            try carry(to: end)
            recordCount += 1
            defer { carry = Data() }
            return .carried(carry)
        }
        guard end - start <= maximumByteCount else { throw tooLarge() }
        recordCount += 1
        return .inChunk(start..<end)
    }

    private mutating func cutRest() throws(ApiConnectorError) -> Place? {
        if let flaw = finder.flawAtEnd() { throw fail(at: offset, flaw) }
        isOver = true
        guard !carry.isEmpty else { return nil }
        recordOffset = unfinishedOffset
        recordCount += 1
        defer { carry = Data() }
        return .carried(carry)
    }

    private mutating func carry(to end: Int) throws(ApiConnectorError) {
        guard end - start <= maximumByteCount - carry.count else { throw tooLarge() }
        carry.append(chunk[chunk.startIndex + start..<chunk.startIndex + end])
    }

    private mutating func tooLarge() -> ApiConnectorError {
        isOver = true
        recordOffset = unfinishedOffset
        return .recordTooLarge(recordCount + 1, at: recordOffset, limit: maximumByteCount)
    }

    private mutating func fail(at place: Int, _ text: String) -> ApiConnectorError {
        isOver = true
        return ApiConnectorError(.decodingFailed, at: .response, "\(text), at byte \(place) of the body")
    }
}

extension ApiConnectorError {
    static func recordTooLarge(_ number: Int, at offset: Int, limit: Int) -> ApiConnectorError {
        let name = "record \(number), which begins at byte \(offset) of the body,"
        return ApiConnectorError(.recordTooLarge, at: .response, "\(name) is longer than the limit of \(limit) bytes")
    }
}

/// Finds the ends of a format's records in chunks of bytes; ``RecordSplitter`` does the rest.
///
/// It is a pure state machine: it reads each byte once, in order, and stores its state between chunks.
protocol RecordFinder: Sendable {
    /// Discards stored indices of the last chunk, because the next call of `cut` gets a new chunk.
    mutating func startChunk()

    /// Searches from an index on, where the current record begins or continues.
    mutating func cut(_ chunk: UnsafeRawBufferPointer, from place: Int) -> RecordCut

    /// Why the bytes must not end here; nil if they may end, and the rest is then a record.
    func flawAtEnd() -> String?
}

extension RecordFinder {
    mutating func startChunk() {}
    func flawAtEnd() -> String? { nil }
}

/// The result of a finder for the bytes from an index on.
enum RecordCut {
    /// The bytes up to `to` belong to no record; never returned within a record.
    case skip(to: Int)

    /// The current record ends before `end`, and the following bytes begin at `next`.
    case record(end: Int, next: Int)

    /// All bytes belong to the current record, which continues.
    case needsBytes

    /// The bytes do not match the format.
    case flaw(at: Int, String)

    /// A byte of the current record does not match the format.
    case flawInRecord(at: Int, String)

    /// The bytes that belong to no record are more than the finder may keep.
    case tooLarge(String)
}

extension UnsafeRawBufferPointer {
    /// The index of the first byte with this value, from an index on; the count if there is none.
    @inline(__always)
    func place(of byte: UInt8, from start: Int) -> Int {
        guard let base = baseAddress, start < count, let found = memchr(base + start, Int32(byte), count - start) else {
            return count
        }
        return UnsafeRawPointer(found) - base
    }
}

/// Lines that end with LF, CR or CR LF, as the WHATWG defines them for server-sent events.
///
/// A line ends at its CR, without waiting for the next byte; an LF after the CR belongs to the same line.
struct LineFinder: RecordFinder {
    private var isBehindReturn = false
    /// The indices of the next LF and CR in this chunk, so that no byte is read twice; -1 if unknown.
    private var feed = -1
    private var carriageReturn = -1

    mutating func startChunk() {
        feed = -1
        carriageReturn = -1
    }

    @inline(__always)
    mutating func cut(_ chunk: UnsafeRawBufferPointer, from place: Int) -> RecordCut {
        if isBehindReturn {
            isBehindReturn = false
            if chunk[place] == 0x0A { return .skip(to: place + 1) }
        }
        if feed < place { feed = chunk.place(of: 0x0A, from: place) }
        if carriageReturn < place { carriageReturn = chunk.place(of: 0x0D, from: place) }
        if carriageReturn < feed {
            isBehindReturn = true
            return .record(end: carriageReturn, next: carriageReturn + 1)
        }
        return feed < chunk.count ? .record(end: feed, next: feed + 1) : .needsBytes
    }
}

/// JSON Lines and NDJSON: JSON texts, each followed by a line feed.
///
/// White space before a text and blank lines are skipped. White space after a text is kept, including the CR of a CR
/// LF, because JSON allows it.
struct JSONLineFinder: RecordFinder {
    private var isWithinRecord = false

    @inline(__always)
    mutating func cut(_ chunk: UnsafeRawBufferPointer, from place: Int) -> RecordCut {
        if !isWithinRecord {
            var start = place
            while start < chunk.count, chunk[start].isJSONSpace { start += 1 }
            isWithinRecord = start < chunk.count
            if start > place { return .skip(to: start) }
        }
        let end = chunk.place(of: 0x0A, from: place)
        guard end < chunk.count else { return .needsBytes }
        isWithinRecord = false
        return .record(end: end, next: end + 1)
    }
}

extension UInt8 {
    /// RFC 8259, section 2, "ws".
    @inline(__always)
    var isJSONSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}
