// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// How a response's bytes become a stream's elements.
///
/// ```swift
/// for try await post in api.stream(of: Post.self, at: .posts, as: .elements(at: "data.items")) { … }
/// for try await line in api.stream(at: .log, as: .lines) { … }
/// for try await event in api.stream(of: ServerSentEvent.self, at: .feed, as: .events) { … }
/// ```
///
/// A record in which the router's envelope finds the backend's own error fails the stream with kind `.backendFailure`,
/// in these cases:
///
/// - The record does not decode as the element.
/// - The error has a member that the element does not read, such as the `error` of
///   `{"type":"error","error":{"code":9}}`. If the envelope is a ``BareEnvelope``, this only applies to a record in
///   which the element reads nothing else.
///
/// A large record that decodes as the element is an element. A record is large if it has more than 64 KiB, more than 32
/// members, or a product of member count and size of more than 256 KiB. Each member is examined in its own copy of the
/// record.
///
/// A record has at most ``ConnectionConfiguration/maximumRecordByteCount`` bytes; a longer one fails the stream with
/// kind `.recordTooLarge`. A byte order mark at the start is skipped.
public struct StreamFormat<Element: Sendable>: Sendable {
    private typealias Policy = RecordPolicy<Element, Element>
    private typealias ResultParser = any ElementParser<Result<Element, ApiConnectorError>>

    private let makeParser: @Sendable (StreamContext, Policy) -> any ElementParser<Element>
    private let makeResultParser: @Sendable (StreamContext) -> ResultParser
    private var policy = Policy.failing

    /// The request's `Accept` field.
    let accept: String

    /// Whether a broken stream is resumed at a byte offset.
    let isResumedByByte: Bool

    /// How the stream is resumed; nil to never resume it.
    private(set) var resumePolicy: RetryPolicy?

    private init(
        accepting accept: String,
        isResumedByByte: Bool = false,
        parser: @escaping @Sendable (StreamContext, Policy) -> any ElementParser<Element>,
        results: @escaping @Sendable (StreamContext) -> ResultParser
    ) {
        makeParser = parser
        makeResultParser = results
        self.accept = accept
        self.isResumedByByte = isResumedByByte
    }

    /// Makes a format whose records need no decoding.
    private init<Parser: ElementParser<Element>>(
        accepting accept: String,
        _ parser: @escaping @Sendable (StreamContext) -> Parser
    ) {
        self.init(accepting: accept) { context, _ in
            parser(context)
        } results: { context in
            PlainResults(parser: parser(context))
        }
    }

    /// Makes the parser of a response's body.
    func parser(_ context: StreamContext) -> any ElementParser<Element> { makeParser(context, policy) }

    /// Resumes streams of server-sent events, NDJSON and JSON Lines after a break.
    ///
    /// ```swift
    /// for try await event in api.stream(of: ServerSentEvent.self, at: .feed, as: .events.resuming()) { … }
    /// ```
    ///
    /// The request is sent again after a back-off with jitter. If the stream fails before the first response was
    /// accepted, it is not resumed. Streams of other formats are not resumed. A record that does not decode fails the
    /// stream.
    ///
    /// Observers receive ``CallEvent/Kind/retrying(after:because:)`` for each attempt. All attempts have the same
    /// ``CallEvent/call``. The stream's last error lists them in ``ApiConnectorError/earlierAttempts``.
    ///
    /// ## Server-sent events
    ///
    /// - The stream is resumed when the connection is lost, and also when the server ends the response.
    /// - The request has the last event's ID in `Last-Event-ID`. It is sent after the time in the server's `retry`
    ///   field.
    /// - Status 204 ends the stream. A status that the policy does not retry, or another media type, fails the stream.
    /// - A POST is resumed only with an `Idempotency-Key`. Otherwise the stream fails at the break with an error that
    ///   says so.
    ///
    /// ## Lines
    ///
    /// - When the connection is lost, the stream requests the bytes after the last complete record, with `Range` and
    ///   `If-Range` (RFC 9110, section 14).
    /// - This requires a GET. The first response must have a strong validator, such as an `ETag`, and an uncompressed
    ///   body, which the request asks for. The server must then respond with status 206, the right `Content-Range`,
    ///   and the same `ETag`, if the first response has one.
    /// - If a requirement is not met, or the resource has changed, the stream fails with an error that says so. No
    ///   record is delivered twice.
    ///
    /// - Parameter policy: When and how often to resume; ``RetryPolicy/resumption`` by default.
    public func resuming(_ policy: RetryPolicy = .resumption) -> StreamFormat {
        var format = self
        format.resumePolicy = policy
        return format
    }

    /// Skips records that do not decode.
    ///
    /// A record that is the backend's own error fails the stream. Bytes that do not match the format also fail the
    /// stream.
    public static func skippingUndecodable(_ format: StreamFormat) -> StreamFormat {
        var skipping = format
        skipping.policy = .skipping
        return skipping
    }

    /// Delivers each record as a result: a value, or the error of a record that does not decode.
    ///
    /// Bytes that do not match the format still fail the stream.
    public static func results<Value>(
        _ format: StreamFormat<Value>
    ) -> StreamFormat where Element == Result<Value, ApiConnectorError> {
        var results = StreamFormat(accepting: format.accept, isResumedByByte: format.isResumedByByte) { context, _ in
            format.makeResultParser(context)
        } results: { context in
            PlainResults(parser: format.makeResultParser(context))
        }
        results.resumePolicy = format.resumePolicy
        return results
    }
}

extension StreamFormat where Element: Decodable {
    /// Chooses the format by the response's media type; the default.
    ///
    /// NDJSON, JSON Lines, JSON text sequences and server-sent events are streams of values. Any other body is one
    /// value, decoded like ``ApiConnectionType/value(_:at:options:)``.
    public static var automatic: StreamFormat {
        // It may be a format that is resumed by byte.
        StreamFormat(
            accepting:
                "application/json, application/x-ndjson, application/jsonl, application/json-seq, text/event-stream",
            isResumedByByte: true
        ) { context, policy in
            format(of: context.mediaType).makeParser(context, policy)
        } results: { context in
            format(of: context.mediaType).makeResultParser(context)
        }
    }

    /// The format of a response's media type; a single value for types that are not streams.
    private static func format(of mediaType: MediaType?) -> StreamFormat {
        guard let mediaType else { return wholeBody }
        if mediaType.isEventStream { return events }
        if mediaType.isJSONLines { return jsonLines }
        return mediaType.isJSONSequence ? jsonSequence : wholeBody
    }

    private static var wholeBody: StreamFormat {
        StreamFormat(accepting: "application/json", decoding: { .body($0.wholeReader) }) {
            WholeText(maximumByteCount: $0.maximumBodyByteCount)
        }
    }

    /// Makes a format whose records are JSON texts.
    private init(
        accepting accept: String,
        isResumedByByte: Bool = false,
        decoding: @escaping @Sendable (StreamContext) -> StreamDecoding = { .record($0) },
        _ texts: @escaping @Sendable (StreamContext) -> any JSONTexts
    ) {
        self.init(accepting: accept, isResumedByByte: isResumedByByte) { context, policy in
            DecodedElements(texts(context), by: decoding(context), policy)
        } results: { context in
            DecodedElements(
                texts(context),
                by: decoding(context),
                RecordPolicy<Element, Result<Element, ApiConnectorError>>.results
            )
        }
    }

    /// The elements of a body that is a JSON array, as they arrive.
    public static var elements: StreamFormat { elements(at: "") }

    /// The elements of an array within the body, as they arrive.
    ///
    /// These faults fail the stream with kind `.decodingFailed` and the byte offset: brackets that do not match, a body
    /// that ends too early, and more than 512 nested containers. Before and after the array, only strings and brackets
    /// are parsed; other JSON errors there are not detected. The first of repeated keys is used.
    ///
    /// If the router's envelope finds the backend's own error in a body without the array, the stream fails with it.
    /// A body without the array is searched up to 64 KiB.
    ///
    /// With an envelope that wraps values, the text around the array is also searched, after the last element. For
    /// this, the text is kept in memory. With ``DataEnvelope`` and ``JSONAPIEnvelope``, the content of a member of more
    /// than 64 KiB is not kept, unless that member is the error. The limit of the kept text is 16 MiB, or
    /// ``ConnectionConfiguration/maximumRecordByteCount`` if that is larger. Beyond it, the stream fails with kind
    /// `.recordTooLarge`.
    ///
    /// Short elements that arrive together are decoded together. So your own `init(from:)` may find an index at the
    /// start of its coding path, and is called again if another element of the group does not decode. With a custom
    /// strategy closure or a `userInfo` in the decoder, each element is decoded once and separately.
    ///
    /// - Parameter path: The keys that lead to the array, separated by dots, such as `data.items`.
    public static func elements(at path: String) -> StreamFormat {
        StreamFormat(accepting: "application/json") { ArrayTexts(path: path, $0) }
    }

    /// One value per line: NDJSON or JSON Lines.
    ///
    /// Blank lines are skipped, and the last line needs no line break.
    public static var jsonLines: StreamFormat {
        StreamFormat(
            accepting: "application/x-ndjson, application/jsonl, application/ndjson, application/json-lines;q=0.9, "
                + "application/x-jsonlines;q=0.9, application/json;q=0.5, text/plain;q=0.5, "
                + "application/octet-stream;q=0.5",
            isResumedByByte: true
        ) {
            LineTexts($0)
        }
    }

    /// A JSON text sequence (RFC 7464); a truncated text counts as a record that does not decode.
    public static var jsonSequence: StreamFormat {
        StreamFormat(accepting: "application/json-seq") {
            SequenceTexts(maximumByteCount: $0.maximumRecordByteCount)
        }
    }

    /// Values that are decoded from the data of server-sent events, which is JSON.
    ///
    /// An event with empty data, such as a ping, gives no value.
    public static var events: StreamFormat { decodedEvents(until: nil) }

    /// Values that are decoded from the JSON data of server-sent events, up to an event with this data, such as
    /// `[DONE]`.
    ///
    /// The sentinel ends the stream and closes the connection. If the server ends the response without it, the stream
    /// is incomplete and fails with kind `.connectionLost`. Status 204 ends the stream.
    ///
    /// - Parameters:
    ///   - sentinel: The data of the last event, which is not delivered.
    ///   - isSentinelOptional: Whether the stream is complete without the sentinel; false by default.
    public static func events(until sentinel: String, isSentinelOptional: Bool = false) -> StreamFormat {
        events(until: { $0.data == sentinel }, isSentinelOptional: isSentinelOptional)
    }

    /// Values that are decoded from the JSON data of server-sent events, up to an event that satisfies a predicate.
    ///
    /// A stream that ends without such an event fails with kind `.connectionLost`, unless the sentinel is optional.
    public static func events(
        until ends: @escaping @Sendable (ServerSentEvent) -> Bool,
        isSentinelOptional: Bool = false
    ) -> StreamFormat {
        decodedEvents(until: EventSentinel(matches: ends, isOptional: isSentinelOptional))
    }

    private static func decodedEvents(until sentinel: EventSentinel?) -> StreamFormat {
        StreamFormat(accepting: "text/event-stream") { EventTexts(ServerSentEventParser($0, until: sentinel)) }
    }
}

extension StreamFormat where Element == ServerSentEvent {
    /// Server-sent events, as defined by the WHATWG HTML standard.
    public static var events: StreamFormat { plainEvents(until: nil) }

    /// Server-sent events up to an event with this data, such as `[DONE]`.
    ///
    /// If the server ends the response without the sentinel, the stream is incomplete and fails with kind
    /// `.connectionLost`. Status 204 ends the stream.
    ///
    /// - Parameters:
    ///   - sentinel: The data of the last event, which is not delivered.
    ///   - isSentinelOptional: Whether the stream is complete without the sentinel; false by default.
    public static func events(until sentinel: String, isSentinelOptional: Bool = false) -> StreamFormat {
        events(until: { $0.data == sentinel }, isSentinelOptional: isSentinelOptional)
    }

    /// Server-sent events up to an event that satisfies a predicate; that event is not delivered.
    ///
    /// A stream that ends without such an event fails with kind `.connectionLost`, unless the sentinel is optional.
    public static func events(
        until ends: @escaping @Sendable (ServerSentEvent) -> Bool,
        isSentinelOptional: Bool = false
    ) -> StreamFormat {
        plainEvents(until: EventSentinel(matches: ends, isOptional: isSentinelOptional))
    }

    private static func plainEvents(until sentinel: EventSentinel?) -> StreamFormat {
        StreamFormat(accepting: "text/event-stream") { ServerSentEventParser($0, until: sentinel) }
    }
}

extension StreamFormat where Element == String {
    /// Lines of UTF-8 text, without line breaks (LF, CR LF or CR); the last line needs no line break.
    ///
    /// Invalid UTF-8 bytes become U+FFFD.
    public static var lines: StreamFormat {
        StreamFormat(accepting: "*/*") { LineParser(maximumByteCount: $0.maximumRecordByteCount) }
    }

    /// UTF-8 text as it arrives, in pieces that never split a character.
    ///
    /// The next bytes may extend a piece's last character. So the last character is delivered with the next piece or at
    /// the end, unless it is a line break. Invalid UTF-8 bytes become U+FFFD.
    public static var text: StreamFormat {
        StreamFormat(accepting: "*/*") { _ in TextParser() }
    }
}

extension StreamFormat where Element == Data {
    /// The bytes of the body in chunks, as they arrive.
    public static var chunks: StreamFormat {
        StreamFormat(accepting: "*/*") { _ in ChunkParser() }
    }

    /// Lines as bytes, without line breaks (LF, CR LF or CR); a line within one chunk is not copied.
    public static var lineData: StreamFormat {
        StreamFormat(accepting: "*/*") { LineDataParser(maximumByteCount: $0.maximumRecordByteCount) }
    }
}
