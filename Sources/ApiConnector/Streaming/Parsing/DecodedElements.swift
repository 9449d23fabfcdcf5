// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Decodes each JSON text of a stream.
struct DecodedElements<Value: Decodable & Sendable>: ElementParser {
    private var texts: any JSONTexts
    private let decode: StreamDecoding
    private let skipsUndecodable: Bool
    /// What decodes many texts at once; nil where each is decoded by itself.
    private var together: JSONDecoder?

    init(_ texts: any JSONTexts, by decode: StreamDecoding, skipsUndecodable: Bool) {
        self.texts = texts
        self.decode = decode
        self.skipsUndecodable = skipsUndecodable
        // One of a class of the user's own may look at what it is asked for.
        if texts.standApart, case .record(let decoder) = decode, type(of: decoder) == JSONDecoder.self {
            together = decoder
        }
    }

    var isOver: Bool { texts.isOver }

    var resumePoint: ResumePoint? { texts.resumePoint }

    mutating func append(_ chunk: Data) { texts.append(chunk) }

    mutating func end() { texts.end() }

    mutating func read(_ batch: inout [Value], upTo count: Int) throws(ApiConnectorError) {
        guard let decoder = together else {
            while batch.count < count, let text = try texts.next() { try append(text, to: &batch) }
            return
        }
        var found: [JSONText] = []
        var failure: ApiConnectorError?
        do throws(ApiConnectorError) {
            while batch.count + found.count < count, let text = try texts.next() { found.append(text) }
        } catch {
            failure = error
        }
        if let values: [Value] = decoder.valuesTogether(of: found) {
            batch += values
        } else {
            // Which of them does not decode, and why, is told of each by itself; more of them may come.
            if found.count > 1 { together = nil }
            for text in found { try append(text, to: &batch) }
        }
        if let failure { throw failure }
    }

    private func append(_ text: JSONText, to batch: inout [Value]) throws(ApiConnectorError) {
        do throws(ApiConnectorError) {
            batch.append(try decode(Value.self, text))
        } catch  where skipsUndecodable {
            return
        }
    }
}

extension JSONDecoder {
    /// The values of many texts, decoded as one array: a call of the decoder takes as long as a small text.
    ///
    /// - Returns: Nil for fewer than two texts, and where one does not decode.
    fileprivate func valuesTogether<Value: Decodable>(of texts: [JSONText]) -> [Value]? {
        guard texts.count > 1 else { return nil }
        var array = Data(capacity: texts.reduce(1) { $0 + $1.data.count + 1 })
        for text in texts {
            array.append(array.isEmpty ? UInt8(ascii: "[") : UInt8(ascii: ","))
            array.append(text.data)
        }
        array.append(UInt8(ascii: "]"))
        guard let values = try? decode([Value].self, from: array), values.count == texts.count else { return nil }
        return values
    }
}

/// Decodes each JSON text of a stream, and hands out the errors too.
struct DecodedResults<Value: Decodable & Sendable>: ElementParser {
    private var texts: any JSONTexts
    private let decode: StreamDecoding

    init(_ texts: any JSONTexts, by decode: StreamDecoding) {
        self.texts = texts
        self.decode = decode
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
                batch.append(.success(try decode(Value.self, text)))
            } catch {
                batch.append(.failure(error))
            }
        }
    }
}

/// From a JSON text to a value.
enum StreamDecoding: Sendable {
    /// Record by record.
    case record(JSONDecoder)

    /// A whole body, envelope and all.
    case body(any WholeBodyReader & Sendable)

    func callAsFunction<Value: Decodable>(_ type: Value.Type, _ text: JSONText) throws(ApiConnectorError) -> Value {
        switch self {
        case .record(let decoder): try decoder.decode(type, from: text)
        case .body(let reader): try reader.read(type, from: text.data)
        }
    }
}

extension JSONDecoder {
    /// Decodes one text of a stream.
    ///
    /// - Throws: ``ApiConnectorError`` of kind `.decodingFailed` that names the text's number and place.
    func decode<Value: Decodable>(_ type: Value.Type, from text: JSONText) throws(ApiConnectorError) -> Value {
        guard !text.isCutOff || !text.isScalar else {
            throw ApiConnectorError(.decodingFailed, at: .value, "\(text.name) is truncated")
        }
        do {
            return try decode(type, from: text.data)
        } catch {
            let reason = CodingText.describe(error, in: text.data)
            let fault = text.isCutOff ? "is truncated" : "does not decode as \(type): \(reason)"
            throw ApiConnectorError(.decodingFailed, at: .value, "\(text.name) \(fault)", underlying: error)
        }
    }
}

extension JSONText {
    fileprivate var name: String { "record \(number), which begins at byte \(offset) of the body," }

    /// A number, true, false or null, which says nothing about its own end.
    fileprivate var isScalar: Bool {
        data.first.map { !Array("{[\"".utf8).contains($0) } ?? false
    }
}
