// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Parses a body's bytes into a stream's elements; each format has its own pure state machine.
protocol ElementParser<Element>: Sendable {
    associatedtype Element: Sendable

    /// Whether no element follows and no more bytes are needed: after a sentinel, or at an end that the format defines.
    var isOver: Bool { get }

    /// Where to resume a stream that breaks off here; nil for a format that cannot be resumed.
    var resumePoint: ResumePoint? { get }

    /// Whether the last elements made new progress, so that the count of attempts starts again.
    var isAdvancing: Bool { get }

    /// Appends the next bytes.
    mutating func append(_ chunk: Data)

    /// Marks the end of the bytes.
    mutating func end()

    /// Appends the next elements; fewer than `count` if more bytes are needed, or at the end.
    ///
    /// - Throws: ``ApiConnectorError``; the elements before the error are appended, and no elements follow.
    mutating func read(_ batch: inout [Element], upTo count: Int) throws(ApiConnectorError)
}

extension ElementParser {
    var isOver: Bool { false }
    var isAdvancing: Bool { true }
    var resumePoint: ResumePoint? { nil }
}

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

/// Chooses the elements that a stream delivers for its records.
///
/// It has no `Result` of a record, whose metadata would be looked up for each record: 0.2 µs.
struct RecordPolicy<Value: Sendable, Element: Sendable>: Sendable {
    /// The element for a record's value.
    let element: @Sendable (Value) -> Element

    /// The element for the error of a record; nil for none.
    ///
    /// An error that it throws ends the stream.
    let failure: @Sendable (ApiConnectorError) throws(ApiConnectorError) -> Element?

    /// The elements for values that were decoded together; nil if each record is decoded separately.
    var elements: (@Sendable ([Value]) -> [Element])?
}

extension RecordPolicy where Element == Value {
    /// A record that does not decode ends the stream.
    static var failing: RecordPolicy {
        RecordPolicy(
            element: { $0 },
            failure: { (error) throws(ApiConnectorError) in throw error },
            elements: { $0 }
        )
    }

    /// A record that does not decode is skipped.
    static var skipping: RecordPolicy {
        RecordPolicy(
            element: { $0 },
            failure: { (error) throws(ApiConnectorError) in
                guard error.kind == .decodingFailed else { throw error }
                return nil
            },
            elements: { $0 }
        )
    }
}

extension RecordPolicy where Element == Result<Value, ApiConnectorError> {
    /// Each record is an element: its value, or its error.
    static var results: RecordPolicy { RecordPolicy(element: { .success($0) }, failure: { .failure($0) }) }
}

/// Delivers elements that need no decoding as results.
struct PlainResults<Value: Sendable>: ElementParser {
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
