// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// One JSON text of a stream.
struct JSONText {
    let data: Data
    /// The number of the text, counted from 1.
    let number: Int
    /// The offset in bytes from the start of the body.
    let offset: Int
    /// Whether the text may be truncated, because nothing shows that it is complete.
    ///
    /// A text of a JSON text sequence is complete at its closing bracket or quote, or at the white space after it.
    var isCutOff = false
    /// Whether the text is the whole body, which may have an encoding other than UTF-8.
    var isDocument = false
}

/// The source of a stream's JSON texts.
protocol JSONTexts: Sendable {
    /// Whether each text is known to have matching brackets and no comma outside of them, so that several texts can be
    /// joined into an array.
    var standApart: Bool { get }
    var isOver: Bool { get }
    var resumePoint: ResumePoint? { get }
    mutating func append(_ chunk: Data)
    mutating func end()
    mutating func next() throws(ApiConnectorError) -> JSONText?
}

extension JSONTexts {
    var standApart: Bool { false }
    var isOver: Bool { false }
    var resumePoint: ResumePoint? { nil }
}

// The following sources are separate types, although one generic type could replace those with a splitter. The reason
// is speed: the optimizer only specializes the splitter for a finder if the code names both types, as in
// `RecordSplitter<ArrayFinder>`.

/// The lines of NDJSON and JSON Lines.
struct LineTexts: JSONTexts {
    private var splitter: RecordSplitter<JSONLineFinder>

    init(_ context: StreamContext) {
        splitter = RecordSplitter(
            JSONLineFinder(),
            maximumByteCount: context.maximumRecordByteCount,
            from: context.resumePoint?.position ?? RecordPosition()
        )
    }

    var isOver: Bool { splitter.isOver }

    var resumePoint: ResumePoint? { ResumePoint(position: splitter.position) }

    mutating func append(_ chunk: Data) { splitter.append(chunk) }

    mutating func end() { splitter.end() }

    mutating func next() throws(ApiConnectorError) -> JSONText? {
        guard let data = try splitter.next() else { return nil }
        return JSONText(data: data, number: splitter.recordCount, offset: splitter.recordOffset)
    }
}

/// The elements of one array.
///
/// In place of the array, the body may have the backend's own error. With an envelope that wraps values, the text
/// around the array may have one, too. That text is kept until the end of the body. If the key of the error is known,
/// the content of other large members is not kept.
struct ArrayTexts: JSONTexts {
    private var splitter: RecordSplitter<ArrayFinder>
    private let context: StreamContext
    /// The body before its first element is complete; nil after that, and if the body cannot be an error.
    private var beginning: Data?
    /// Why the body does not have the array; thrown if the whole body is not the backend's error.
    private var flaw: ApiConnectorError?
    /// Finds the end of the beginning's first JSON text.
    private var scanner = JSONScanner()
    private var scannedCount = 0
    private var isEnding = false

    /// The least limit of the kept text around the array: 16 MiB, as for a record by default.
    ///
    /// A smaller limit of a record would fail streams whose records are small.
    private static let keptByteCount = 16 * 1024 * 1024

    init(path: String, _ context: StreamContext) {
        self.context = context
        let mayFail = context.envelope != BareEnvelope<NoFailure>.self
        beginning = mayFail ? Data() : nil
        let limit = context.maximumRecordByteCount
        let keepsAround = mayFail && context.envelope.wrapsValues
        splitter = RecordSplitter(
            ArrayFinder(
                path: path,
                keepingAroundUpTo: keepsAround ? max(limit, Self.keptByteCount) : nil,
                failureKey: keepsAround ? context.failureKey : nil
            ),
            maximumByteCount: limit
        )
    }

    var standApart: Bool { true }

    mutating func append(_ chunk: Data) {
        if let count = beginning?.count {
            if chunk.count > RecordFailures.maximumByteCount - count {
                beginning = nil
            } else if count == 0 {
                beginning = chunk
            } else {
                beginning?.append(chunk)
            }
        }
        if flaw == nil { splitter.append(chunk) }
    }

    mutating func end() {
        isEnding = true
        splitter.end()
    }

    mutating func next() throws(ApiConnectorError) -> JSONText? {
        if let flaw { return try failInPlaceOfArray(flaw) }
        do throws(ApiConnectorError) {
            if let data = try splitter.next() {
                beginning = nil
                return JSONText(data: data, number: splitter.recordCount, offset: splitter.recordOffset)
            }
        } catch {
            guard error.kind == .decodingFailed else { throw error }
            flaw = error
            return try failInPlaceOfArray(error)
        }
        if splitter.isOver, let around = splitter.finder.around, let failure = context.backendFailure(around.data) {
            throw failure
        }
        return nil
    }

    /// Throws the backend's error or the flaw; returns nil while the body may still become an error.
    private mutating func failInPlaceOfArray(_ flaw: ApiConnectorError) throws(ApiConnectorError) -> JSONText? {
        guard let beginning else { throw flaw }
        guard isEnding || !isIncompleteObject(beginning) else { return nil }
        throw context.backendFailure(beginning) ?? flaw
    }

    private mutating func isIncompleteObject(_ text: Data) -> Bool {
        guard text.first(where: { !$0.isJSONSpace }) == UInt8(ascii: "{") else { return false }
        let stop = text.withUnsafeBytes { scanner.scan($0, from: scannedCount) }
        scannedCount = text.count
        if case .running = stop { return true }
        return false
    }
}

/// JSON text sequences (RFC 7464).
///
/// A text without a closing character is truncated, unless white space follows it (section 2.4).
struct SequenceTexts: JSONTexts {
    private var splitter: RecordSplitter<JSONSequenceFinder>

    init(maximumByteCount: Int) {
        splitter = RecordSplitter(JSONSequenceFinder(), maximumByteCount: maximumByteCount)
    }

    mutating func append(_ chunk: Data) { splitter.append(chunk) }

    mutating func end() { splitter.end() }

    mutating func next() throws(ApiConnectorError) -> JSONText? {
        guard let data = try splitter.next() else { return nil }
        var text = JSONText(data: data, number: splitter.recordCount, offset: splitter.recordOffset)
        text.isCutOff = !splitter.finder.isWhole && data.last?.isJSONSpace == false
        return text
    }
}

/// A whole body as one text, which may be empty.
struct WholeText: JSONTexts {
    private let maximumByteCount: Int
    private var body: Data? = Data()
    private var isEnding = false

    init(maximumByteCount: Int) {
        self.maximumByteCount = maximumByteCount
    }

    mutating func append(_ chunk: Data) {
        if body?.isEmpty == true { body = chunk } else { body?.append(chunk) }
    }

    mutating func end() { isEnding = true }

    mutating func next() throws(ApiConnectorError) -> JSONText? {
        guard body?.count ?? 0 <= maximumByteCount else {
            body = nil
            throw .bodyTooLarge(limit: maximumByteCount)
        }
        guard isEnding, let body = body.take() else { return nil }
        return JSONText(data: body, number: 1, offset: 0)
    }
}
