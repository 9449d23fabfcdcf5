// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The settings and functions of the call that a parser needs.
struct StreamContext: Sendable {
    /// Decodes a whole body like the call's `value(at:)`, including its envelope.
    typealias WholeReader = any WholeBodyDecoding & Sendable

    var mediaType: MediaType?
    var decoder: JSONDecoder
    var maximumRecordByteCount: Int
    var maximumBodyByteCount: Int
    var wholeReader: WholeReader
    var resumePoint: ResumePoint?
    /// Whether the response cannot have a body; its stream is then complete without a sentinel.
    var forbidsBody = false
    /// The envelope of the backend, which describes its own errors.
    var envelope: any ApiEnvelope.Type = BareEnvelope<NoFailure>.self
    /// The backend's own error in a record; nil if the record contains none.
    var backendFailure: @Sendable (Data) -> ApiConnectorError? = { _ in nil }
    /// Replaces secrets in errors that quote a record; created only for an error.
    var redactor: @Sendable () -> Redactor = { .standard }
}

/// Decodes a whole body.
protocol WholeBodyDecoding {
    func read<Value: Decodable>(_ type: Value.Type, from body: Data) throws(ApiConnectorError) -> Value
}

/// Makes a format's parsers, one for each way to handle records that do not decode.
protocol StreamRecipe<Element>: Sendable {
    associatedtype Element: Sendable

    /// Whether its parsers are resumed at a byte offset.
    var isResumedByByte: Bool { get }

    /// Makes a parser that fails at a record that does not decode.
    func parser(_ context: StreamContext) -> any ElementParser<Element>

    /// Makes a parser that skips records that do not decode.
    func skippingParser(_ context: StreamContext) -> any ElementParser<Element>

    /// Makes a parser that delivers an error for a record that does not decode.
    func resultParser(_ context: StreamContext) -> any ElementParser<Result<Element, ApiConnectorError>>
}

extension StreamRecipe {
    var isResumedByByte: Bool { false }
}

/// A format whose records need no decoding.
struct PlainRecipe<Parser: ElementParser>: StreamRecipe {
    let make: @Sendable (StreamContext) -> Parser

    func parser(_ context: StreamContext) -> any ElementParser<Parser.Element> { make(context) }

    func skippingParser(_ context: StreamContext) -> any ElementParser<Parser.Element> { make(context) }

    func resultParser(_ context: StreamContext) -> any ElementParser<Result<Parser.Element, ApiConnectorError>> {
        ResultParser(parser: make(context))
    }
}

/// A format whose records are JSON texts.
struct DecodedRecipe<Value: Decodable & Sendable>: StreamRecipe {
    let isResumedByByte: Bool

    private let texts: @Sendable (StreamContext) -> any JSONTexts
    private let decoding: @Sendable (StreamContext) -> StreamDecoding

    init(
        isResumedByByte: Bool = false,
        _ texts: @escaping @Sendable (StreamContext) -> any JSONTexts,
        by decoding: @escaping @Sendable (StreamContext) -> StreamDecoding = {
            .record($0)
        }
    ) {
        self.isResumedByByte = isResumedByByte
        self.texts = texts
        self.decoding = decoding
    }

    func parser(_ context: StreamContext) -> any ElementParser<Value> {
        DecodedElements(texts(context), by: decoding(context), skipsUndecodable: false)
    }

    func skippingParser(_ context: StreamContext) -> any ElementParser<Value> {
        DecodedElements(texts(context), by: decoding(context), skipsUndecodable: true)
    }

    func resultParser(_ context: StreamContext) -> any ElementParser<Result<Value, ApiConnectorError>> {
        DecodedResults(texts(context), by: decoding(context))
    }
}

/// The format of the response's media type; a single value for types that are not streams.
struct MediaTypeRecipe<Value: Decodable & Sendable>: StreamRecipe {
    /// True, because the format may be lines.
    var isResumedByByte: Bool { true }

    func parser(_ context: StreamContext) -> any ElementParser<Value> {
        recipe(context).parser(context)
    }

    func skippingParser(_ context: StreamContext) -> any ElementParser<Value> {
        recipe(context).skippingParser(context)
    }

    func resultParser(_ context: StreamContext) -> any ElementParser<Result<Value, ApiConnectorError>> {
        recipe(context).resultParser(context)
    }

    private func recipe(_ context: StreamContext) -> any StreamRecipe<Value> {
        guard let mediaType = context.mediaType else { return wholeBody }
        if mediaType.isEventStream { return StreamFormat<Value>.events.recipe }
        if mediaType.isJSONLines { return StreamFormat<Value>.jsonLines.recipe }
        if mediaType.isJSONSequence { return StreamFormat<Value>.jsonSequence.recipe }
        return wholeBody
    }

    private var wholeBody: any StreamRecipe<Value> {
        DecodedRecipe {
            WholeText(maximumByteCount: $0.maximumBodyByteCount)
        } by: {
            .body($0.wholeReader)
        }
    }
}

/// A format that skips records that do not decode.
struct SkippingRecipe<Element: Sendable>: StreamRecipe {
    let base: any StreamRecipe<Element>

    var isResumedByByte: Bool { base.isResumedByByte }

    func parser(_ context: StreamContext) -> any ElementParser<Element> { base.skippingParser(context) }

    func skippingParser(_ context: StreamContext) -> any ElementParser<Element> { base.skippingParser(context) }

    func resultParser(_ context: StreamContext) -> any ElementParser<Result<Element, ApiConnectorError>> {
        base.resultParser(context)
    }
}

/// A format that delivers its elements as results.
struct ResultRecipe<Value: Sendable>: StreamRecipe {
    typealias Element = Result<Value, ApiConnectorError>

    let base: any StreamRecipe<Value>

    var isResumedByByte: Bool { base.isResumedByByte }

    func parser(_ context: StreamContext) -> any ElementParser<Element> { base.resultParser(context) }

    func skippingParser(_ context: StreamContext) -> any ElementParser<Element> { base.resultParser(context) }

    func resultParser(_ context: StreamContext) -> any ElementParser<Result<Element, ApiConnectorError>> {
        ResultParser(parser: base.resultParser(context))
    }
}

/// Delivers elements as results.
private struct ResultParser<Value: Sendable>: ElementParser {
    var parser: any ElementParser<Value>

    var isOver: Bool { parser.isOver }

    var resumePoint: ResumePoint? { parser.resumePoint }

    mutating func append(_ chunk: Data) { parser.append(chunk) }

    mutating func end() { parser.end() }

    mutating func read(
        _ batch: inout [Result<Value, ApiConnectorError>],
        upTo count: Int
    ) throws(ApiConnectorError) {
        var values: [Value] = []
        defer { batch.append(contentsOf: values.map { .success($0) }) }
        try parser.read(&values, upTo: count - batch.count)
    }
}

extension JSONDecoder: WholeBodyDecoding {
    func read<Value: Decodable>(_ type: Value.Type, from body: Data) throws(ApiConnectorError) -> Value {
        try decode(type, from: JSONText(data: body, number: 1, offset: 0, isDocument: true))
    }
}
