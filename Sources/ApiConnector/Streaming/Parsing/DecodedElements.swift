// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Decodes each JSON text of a stream, and delivers the elements of a policy.
struct DecodedElements<Value: Decodable & Sendable, Element: Sendable>: ElementParser {
    private var texts: any JSONTexts
    private let decode: StreamDecoding
    private let policy: RecordPolicy<Value, Element>
    /// Finds the backend's own errors that decode as values; nil if there are none.
    private let failures: RecordFailures?
    /// Decodes several texts at once; nil if each text is decoded separately.
    private var joined: JoinedDecoding?

    init(_ texts: any JSONTexts, by decode: StreamDecoding, _ policy: RecordPolicy<Value, Element>) {
        self.texts = texts
        self.decode = decode
        self.policy = policy
        failures = decode.failures(for: Value.self)
        // A `JSONValue` is parsed without a decoder.
        guard case .record(let context) = decode, texts.standApart, policy.elements != nil,
            failures?.areMarked != false, Value.self != JSONValue.self
        else { return }
        joined = JoinedDecoding(context.decoder)
    }

    var isOver: Bool { texts.isOver }

    var resumePoint: ResumePoint? { texts.resumePoint }

    mutating func append(_ chunk: Data) { texts.append(chunk) }

    mutating func end() { texts.end() }

    mutating func read(_ batch: inout [Element], upTo count: Int) throws(ApiConnectorError) {
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
        to batch: inout [Element],
        by decoding: JoinedDecoding
    ) throws(ApiConnectorError) {
        if group.isWorthJoining, failures.map({ group.texts.map(\.data).contains(where: $0.mayInclude) }) != true {
            if let values: [Value] = decoding.values(of: group), let elements = policy.elements?(values) {
                batch += elements
                return
            }
            // The group has an error. From here on, each text is decoded separately, because more errors may follow.
            joined = nil
        }
        for text in group.texts { try append(text, to: &batch) }
    }

    private func append(_ text: JSONText, to batch: inout [Element]) throws(ApiConnectorError) {
        let value: Value
        do throws(ApiConnectorError) {
            value = try decode(Value.self, text, failures)
        } catch {
            if let element = try policy.failure(error) { batch.append(element) }
            return
        }
        batch.append(policy.element(value))
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

extension JSONDecoder: WholeBodyDecoding {
    func read<Value: Decodable>(_ type: Value.Type, from body: Data) throws(ApiConnectorError) -> Value {
        try decode(type, from: JSONText(data: body, number: 1, offset: 0, isDocument: true))
    }
}

/// Decodes several JSON texts as one array, which saves calls of the decoder.
///
/// With short texts, these calls account for a fifth of the time.
struct JoinedDecoding: Sendable {
    /// The size of a group: large enough to make the cost of the call negligible, small enough for the processor's
    /// caches.
    private static let byteCount = 32 * 1024

    /// Consecutive texts.
    struct Group {
        fileprivate(set) var texts: [JSONText] = []
        fileprivate(set) var failure: ApiConnectorError?
        fileprivate var byteCount = 0

        /// False for a single text, and if the last text is so long that copying it would be expensive.
        var isWorthJoining: Bool { texts.count > 1 && byteCount < 2 * JoinedDecoding.byteCount }
    }

    private let decoder: JSONDecoder

    /// Returns nil for a decoder with user code or `userInfo` that could observe the joining.
    init?(_ decoder: JSONDecoder) {
        guard type(of: decoder) == JSONDecoder.self, decoder.userInfo.isEmpty, !decoder.asksItsUser,
            // JSON5 has strings and comments that the search for a text's end does not know.
            !decoder.allowsJSON5
        else { return nil }
        self.decoder = decoder
    }

    /// The next texts; fewer if more bytes are needed, at the end, or before a failure.
    func group(of texts: inout any JSONTexts, upTo count: Int) -> Group {
        var group = Group()
        do throws(ApiConnectorError) {
            while group.texts.count < count, group.byteCount < Self.byteCount, let text = try texts.next() {
                group.texts.append(text)
                group.byteCount += text.data.count
            }
        } catch {
            group.failure = error
        }
        return group
    }

    /// The values of a group's texts; nil if a text does not decode.
    func values<Value: Decodable>(of group: Group) -> [Value]? {
        var array = Data(capacity: group.byteCount + group.texts.count + 1)
        for text in group.texts {
            array.append(array.isEmpty ? UInt8(ascii: "[") : UInt8(ascii: ","))
            array.append(text.data)
        }
        array.append(UInt8(ascii: "]"))
        guard let values = try? decoder.decode([Value].self, from: array), values.count == group.texts.count else {
            return nil
        }
        return values
    }
}

extension JSONDecoder {
    /// Whether the decoder calls a custom closure, which gets the coding path of a value.
    fileprivate var asksItsUser: Bool {
        if case .custom = keyDecodingStrategy { return true }
        if case .custom = dateDecodingStrategy { return true }
        if case .custom = dataDecodingStrategy { return true }
        return false
    }
}
