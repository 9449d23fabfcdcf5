// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Decodes each JSON text of a stream.
struct DecodedElements<Value: Decodable & Sendable>: ElementParser {
    private var texts: any JSONTexts
    private let decode: StreamDecoding
    private let skipsUndecodable: Bool
    /// Finds the backend's own errors that decode as values; nil if there are none.
    private let failures: RecordFailures?
    /// Decodes several texts at once; nil if each text is decoded separately.
    private var joined: JoinedDecoding?

    init(_ texts: any JSONTexts, by decode: StreamDecoding, skipsUndecodable: Bool) {
        self.texts = texts
        self.decode = decode
        self.skipsUndecodable = skipsUndecodable
        failures = decode.failures(for: Value.self)
        guard case .record(let context) = decode, texts.standApart, failures?.areMarked != false else { return }
        joined = JoinedDecoding(context.decoder)
    }

    var isOver: Bool { texts.isOver }

    var resumePoint: ResumePoint? { texts.resumePoint }

    mutating func append(_ chunk: Data) { texts.append(chunk) }

    mutating func end() { texts.end() }

    mutating func read(_ batch: inout [Value], upTo count: Int) throws(ApiConnectorError) {
        while let joined, batch.count < count {
            let group = joined.group(of: &texts, upTo: count - batch.count)
            try append(group, to: &batch, by: joined)
            if let failure = group.failure { throw failure }
            if group.texts.isEmpty { return }
        }
        while batch.count < count, let text = try texts.next() { try append(text, to: &batch) }
    }

    private mutating func append(
        _ group: JoinedDecoding.Group,
        to batch: inout [Value],
        by decoding: JoinedDecoding
    ) throws(ApiConnectorError) {
        if group.isWorthJoining, failures.map({ group.texts.map(\.data).contains(where: $0.mayInclude) }) != true {
            if let values: [Value] = decoding.values(of: group) {
                batch += values
                return
            }
            // The group has an error. From here on, each text is decoded separately, because more errors may follow.
            joined = nil
        }
        for text in group.texts { try append(text, to: &batch) }
    }

    private func append(_ text: JSONText, to batch: inout [Value]) throws(ApiConnectorError) {
        do throws(ApiConnectorError) {
            batch.append(try decode(Value.self, text, failures))
        } catch {
            guard skipsUndecodable, error.kind == .decodingFailed else { throw error }
        }
    }
}

/// Decodes each JSON text of a stream, and also delivers the errors.
struct DecodedResults<Value: Decodable & Sendable>: ElementParser {
    private var texts: any JSONTexts
    private let decode: StreamDecoding
    private let failures: RecordFailures?

    init(_ texts: any JSONTexts, by decode: StreamDecoding) {
        self.texts = texts
        self.decode = decode
        failures = decode.failures(for: Value.self)
    }

    var isOver: Bool { texts.isOver }

    var resumePoint: ResumePoint? { texts.resumePoint }

    mutating func append(_ chunk: Data) { texts.append(chunk) }

    mutating func end() { texts.end() }

    mutating func read(
        _ batch: inout [Result<Value, ApiConnectorError>],
        upTo count: Int
    ) throws(ApiConnectorError) {
        while batch.count < count, let text = try texts.next() {
            do throws(ApiConnectorError) {
                batch.append(.success(try decode(Value.self, text, failures)))
            } catch {
                batch.append(.failure(error))
            }
        }
    }
}

/// Decodes a JSON text.
enum StreamDecoding: Sendable {
    /// One record.
    case record(StreamContext)

    /// A whole body, including its envelope.
    case body(any WholeBodyDecoding & Sendable)

    /// Finds the backend's own errors that decode as values; nil if there are none.
    func failures<Value: Decodable>(for type: Value.Type) -> RecordFailures? {
        if case .record(let context) = self { RecordFailures(of: type, context) } else { nil }
    }

    func callAsFunction<Value: Decodable>(
        _ type: Value.Type,
        _ text: JSONText,
        _ failures: RecordFailures?
    ) throws(ApiConnectorError) -> Value {
        switch self {
        case .record(let context):
            let value: Value
            do throws(ApiConnectorError) {
                value = try context.decoder.decode(type, from: text, context.redactor)
            } catch {
                throw context.backendFailure(text.data) ?? error
            }
            if let failure = failures?.failure(in: text.data, of: type) { throw failure }
            return value
        case .body(let reader): return try reader.read(type, from: text.data)
        }
    }
}

extension JSONDecoder {
    /// Decodes one text of a stream.
    ///
    /// - Throws: ``ApiConnectorError`` of kind `.decodingFailed` with the text's number and offset.
    func decode<Value: Decodable>(
        _ type: Value.Type,
        from text: JSONText,
        _ redactor: () -> Redactor = { .standard }
    ) throws(ApiConnectorError) -> Value {
        guard !text.isCutOff || !text.isScalar else {
            throw ApiConnectorError(.decodingFailed, at: .value, "\(text.name) is truncated")
        }
        guard !text.looksLikeAnotherEncoding else {
            throw ApiConnectorError(.decodingFailed, at: .value, "\(text.name) is not JSON in UTF-8")
        }
        do {
            return try value(type, in: text.data)
        } catch {
            let failure = DecodingFailure(error, in: text.data, as: type, with: self, isRecord: true, redactor())
            let fault = text.isCutOff ? "is truncated" : "does not decode as \(type): \(failure.reason)"
            throw ApiConnectorError(.decodingFailed, at: .value, "\(text.name) \(fault)", underlying: error)
                .advising(failure.advice)
        }
    }
}

extension JSONText {
    fileprivate var name: String { "record \(number), which begins at byte \(offset) of the body," }

    /// Whether a decoder would read the text as UTF-16 or UTF-32, because of a byte order mark or a zero byte at its
    /// start.
    ///
    /// Records are only found in UTF-8. The byte order mark of UTF-8 is allowed at the start of the body only.
    fileprivate var looksLikeAnotherEncoding: Bool {
        guard !isDocument else { return false }
        let start = data.prefix(4)
        return start.contains(0) || start.starts(with: [0xFE, 0xFF]) || start.starts(with: [0xFF, 0xFE])
            || (offset > 0 && start.starts(with: [0xEF, 0xBB, 0xBF]))
    }

    /// A number, true, false or null, which has no closing character.
    fileprivate var isScalar: Bool {
        data.first.map { !Array("{[\"".utf8).contains($0) } ?? false
    }
}
