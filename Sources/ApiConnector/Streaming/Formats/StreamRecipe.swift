// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What a parser has to know of the call.
struct StreamContext: Sendable {
    /// Decodes a whole body as the call's `value(at:)` would, envelope and all.
    typealias WholeReader = any WholeBodyReader & Sendable

    var mediaType: MediaType?
    var decoder: JSONDecoder
    var maximumRecordByteCount: Int
    var maximumBodyByteCount: Int
    var wholeReader: WholeReader
    var resumePoint: ResumePoint?
    /// Whether the response has no body by definition, so that nothing of it is missing.
    var forbidsBody = false
    /// The backend's own error in a record that does not decode; nil for none.
    var backendFailure: @Sendable (Data) -> ApiConnectorError? = { _ in nil }
    /// Replaces secrets in errors that quote a record; it is made for an error only.
    var redactor: @Sendable () -> Redactor = { .standard }
}

/// Decodes a whole body.
protocol WholeBodyReader {
    func read<Value: Decodable>(_ type: Value.Type, from body: Data) throws(ApiConnectorError) -> Value
}

/// How a format makes its parsers: one for each thing that may be done with a record that does not decode.
protocol StreamRecipe<Element>: Sendable {
    associatedtype Element: Sendable

    /// Whether its parsers say by byte from where they are resumed.
    var isResumedByByte: Bool { get }

    /// Fails at such a record.
    func parser(_ context: StreamContext) -> any ElementParser<Element>

    /// Leaves such a record out.
    func skippingParser(_ context: StreamContext) -> any ElementParser<Element>

    /// Hands it out as an error.
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

/// The format that a response's media type names; one value where it names none of several.
struct MediaTypeRecipe<Value: Decodable & Sendable>: StreamRecipe {
    /// As it may be lines.
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

/// A format with another answer to records that do not decode.
struct SkippingRecipe<Element: Sendable>: StreamRecipe {
    let base: any StreamRecipe<Element>

    var isResumedByByte: Bool { base.isResumedByByte }

    func parser(_ context: StreamContext) -> any ElementParser<Element> { base.skippingParser(context) }

    func skippingParser(_ context: StreamContext) -> any ElementParser<Element> { base.skippingParser(context) }

    func resultParser(_ context: StreamContext) -> any ElementParser<Result<Element, ApiConnectorError>> {
        base.resultParser(context)
    }
}

/// A format whose elements are returned as results.
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

/// Elements as results.
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
