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
/// A record is at most ``ConnectionConfiguration/maximumRecordByteCount`` bytes long; a longer one fails the stream
/// with kind `.recordTooLarge`. A byte-order mark at the start is left out.
public struct StreamFormat<Element: Sendable>: Sendable {
    let recipe: any StreamRecipe<Element>

    /// The request's `Accept` field.
    let accept: String

    /// How the stream is resumed; nil for not at all.
    private(set) var resumePolicy: RetryPolicy?

    init(_ recipe: any StreamRecipe<Element>, accepting accept: String) {
        self.recipe = recipe
        self.accept = accept
    }

    /// Resumes server-sent events, NDJSON and JSON Lines that broke off, by themselves.
    ///
    /// The request is sent again after a jittered back-off. The first one is not repeated before the head of its answer
    /// was accepted, nor is a stream of another format. A record that does not decode fails the stream.
    ///
    /// Server-sent events go on when the connection is lost and also when the server ends the response, with the last
    /// event's ID in `Last-Event-ID` and after the time that the server asks for by `retry`. Status 204 ends the
    /// stream; a status that the policy does not retry, and another media type, fail it. A POST goes on so only with an
    /// `Idempotency-Key`; without one the stream fails where it breaks off, and says why.
    ///
    /// Lines go on when the connection is lost, behind the last whole record, by `Range` and `If-Range` (RFC 9110,
    /// section 14). That needs a GET, a strong validator, a body that is not compressed (the request asks for that),
    /// and a server that sends parts of it: an `ETag`, say, and status 206 with the right `Content-Range`. Where one of
    /// them is missing, or the resource has changed, the stream fails and says which: no record comes twice.
    ///
    /// ```swift
    /// for try await event in api.stream(of: ServerSentEvent.self, at: .feed, as: .events.resuming()) { … }
    /// ```
    ///
    /// Observers are told each attempt: ``CallEvent/Kind/retrying(after:because:)``. All have one ``CallEvent/call``, and the
    /// stream's last error has them in its ``ApiConnectorError/earlierAttempts``.
    ///
    /// - Parameter policy: When and how often; ``RetryPolicy/resumption`` by default.
    public func resuming(_ policy: RetryPolicy = .resumption) -> StreamFormat {
        var format = self
        format.resumePolicy = policy
        return format
    }

    /// Leaves out the records that do not decode.
    ///
    /// A record that is the backend's own error fails the stream. Bytes that are not the format at all still fail the stream.
    public static func skippingUndecodable(_ format: StreamFormat) -> StreamFormat {
        var skipping = StreamFormat(SkippingRecipe(base: format.recipe), accepting: format.accept)
        skipping.resumePolicy = format.resumePolicy
        return skipping
    }

    /// Returns each record as a result: a value, or the error of a record that does not decode.
    ///
    /// Bytes that are not the format at all still fail the stream.
    public static func results<Value>(
        _ format: StreamFormat<Value>
    ) -> StreamFormat where Element == Result<Value, ApiConnectorError> {
        var results = StreamFormat(ResultRecipe(base: format.recipe), accepting: format.accept)
        results.resumePolicy = format.resumePolicy
        return results
    }
}

extension StreamFormat where Element: Decodable {
    /// What the response's media type says; the default.
    ///
    /// NDJSON and JSON Lines, JSON text sequences and server-sent events are streams of values. Everything else is one
    /// value: the whole body, as ``ApiConnectionType/value(_:at:options:)`` reads it.
    public static var automatic: StreamFormat {
        StreamFormat(
            MediaTypeRecipe<Element>(),
            accepting:
                "application/json, application/x-ndjson, application/jsonl, application/json-seq, text/event-stream"
        )
    }

    /// The elements of the JSON array that the body is, as they arrive.
    public static var elements: StreamFormat { elements(at: "") }

    /// The elements of one array in the body, as they arrive, whatever stands before and after it.
    ///
    /// Brackets that do not fit, a body that ends too early and more than 512 containers within each other fail the
    /// stream with kind `.decodingFailed`, which names the byte. Of what stands before and after the array only strings
    /// and brackets are read: whether it is JSON otherwise nobody checks. Of a key that repeats the first counts.
    ///
    /// Short elements that have arrived together are decoded together. An `init(from:)` of your own may so find an
    /// index in front of its coding path, and is called again where another element does not decode. A decoder with a
    /// closure of yours as a strategy, or with anything in its `userInfo`, decodes each element once and by itself.
    ///
    /// - Parameter path: The keys that lead to the array, with dots between them, such as `data.items`.
    public static func elements(at path: String) -> StreamFormat {
        StreamFormat(
            DecodedRecipe { ArrayTexts(path: path, maximumByteCount: $0.maximumRecordByteCount) },
            accepting: "application/json"
        )
    }

    /// A value a line: NDJSON, JSON Lines; blank lines are left out, and the last line needs no end.
    public static var jsonLines: StreamFormat {
        StreamFormat(
            DecodedRecipe(isResumedByByte: true) { LineTexts($0) },
            accepting: "application/x-ndjson, application/jsonl, application/ndjson, application/json-lines;q=0.9, "
                + "application/x-jsonlines;q=0.9, application/json;q=0.5, text/plain;q=0.5, "
                + "application/octet-stream;q=0.5"
        )
    }

    /// A JSON text sequence (RFC 7464); a text that was cut off counts as one that does not decode.
    public static var jsonSequence: StreamFormat {
        StreamFormat(
            DecodedRecipe { SequenceTexts(maximumByteCount: $0.maximumRecordByteCount) },
            accepting: "application/json-seq"
        )
    }

    /// The data of server-sent events, each a JSON text.
    public static var events: StreamFormat { decodedEvents(until: nil) }

    /// The data of server-sent events, each a JSON text, until one has this data, such as `[DONE]`.
    ///
    /// The stream ends there, and the connection is closed. A server that ends the response before the sentinel has
    /// sent an incomplete stream, which fails with kind `.connectionLost`. Status 204 ends the stream.
    ///
    /// - Parameters:
    ///   - sentinel: The data of the last event, which is not delivered.
    ///   - isSentinelOptional: Whether the stream may end without it; false by default.
    public static func events(until sentinel: String, isSentinelOptional: Bool = false) -> StreamFormat {
        events(until: { $0.data == sentinel }, isSentinelOptional: isSentinelOptional)
    }

    /// The data of server-sent events, each a JSON text, until one satisfies a predicate.
    ///
    /// A stream that ends before is incomplete, and fails with kind `.connectionLost`, unless the sentinel is optional.
    public static func events(
        until ends: @escaping @Sendable (ServerSentEvent) -> Bool,
        isSentinelOptional: Bool = false
    ) -> StreamFormat {
        decodedEvents(until: EventSentinel(matches: ends, isOptional: isSentinelOptional))
    }

    private static func decodedEvents(until sentinel: EventSentinel?) -> StreamFormat {
        StreamFormat(
            DecodedRecipe { EventTexts(ServerSentEventParser($0, until: sentinel)) },
            accepting: "text/event-stream"
        )
    }
}

extension StreamFormat where Element == ServerSentEvent {
    /// Server-sent events, by the WHATWG's HTML standard.
    public static var events: StreamFormat { plainEvents(until: nil) }

    /// Server-sent events until one has this data, such as `[DONE]`.
    ///
    /// A server that ends the response before the sentinel has sent an incomplete stream, which fails with kind
    /// `.connectionLost`. Status 204 ends the stream.
    ///
    /// - Parameters:
    ///   - sentinel: The data of the last event, which is not delivered.
    ///   - isSentinelOptional: Whether the stream may end without it; false by default.
    public static func events(until sentinel: String, isSentinelOptional: Bool = false) -> StreamFormat {
        events(until: { $0.data == sentinel }, isSentinelOptional: isSentinelOptional)
    }

    /// Server-sent events until one satisfies a predicate; that one is not delivered.
    ///
    /// A stream that ends before is incomplete, and fails with kind `.connectionLost`, unless the sentinel is optional.
    public static func events(
        until ends: @escaping @Sendable (ServerSentEvent) -> Bool,
        isSentinelOptional: Bool = false
    ) -> StreamFormat {
        plainEvents(until: EventSentinel(matches: ends, isOptional: isSentinelOptional))
    }

    private static func plainEvents(until sentinel: EventSentinel?) -> StreamFormat {
        StreamFormat(
            PlainRecipe { ServerSentEventParser($0, until: sentinel) },
            accepting: "text/event-stream"
        )
    }
}

extension StreamFormat where Element == String {
    /// Lines of UTF-8, without their ends: LF, CR LF or CR; a last line needs none.
    ///
    /// Bytes that are not UTF-8 become U+FFFD.
    public static var lines: StreamFormat {
        StreamFormat(
            PlainRecipe { LineParser(maximumByteCount: $0.maximumRecordByteCount) },
            accepting: "*/*"
        )
    }

    /// Text in UTF-8 as it arrives, in pieces that never split a character.
    ///
    /// What belongs to a character is known by what follows it: a piece's last character comes with the next piece, or
    /// at the end, unless it is a line's end. Bytes that are not UTF-8 become U+FFFD.
    public static var text: StreamFormat {
        StreamFormat(PlainRecipe { _ in TextParser() }, accepting: "*/*")
    }
}

extension StreamFormat where Element == Data {
    /// The body's bytes in the chunks in which they arrive.
    public static var chunks: StreamFormat {
        StreamFormat(PlainRecipe { _ in ChunkParser() }, accepting: "*/*")
    }

    /// Lines as bytes, without their ends: LF, CR LF or CR; no byte is copied of a line that lies within one chunk.
    public static var lineData: StreamFormat {
        StreamFormat(
            PlainRecipe { LineDataParser(maximumByteCount: $0.maximumRecordByteCount) },
            accepting: "*/*"
        )
    }
}

extension MediaType {
    fileprivate static let lineNames: Set<String> = [
        "x-ndjson", "ndjson", "jsonl", "x-jsonl", "jsonlines", "x-jsonlines", "json-lines", "x-json-stream",
    ]

    /// Server-sent events.
    var isEventStream: Bool { type == "text" && subtype == "event-stream" }

    /// NDJSON or JSON Lines, for which no name is registered.
    var isJSONLines: Bool { (type == "application" || type == "text") && Self.lineNames.contains(subtype) }

    /// A JSON text sequence (RFC 7464, RFC 8091).
    var isJSONSequence: Bool {
        type == "application" && subtype == "json-seq" || subtype.hasSuffix("+json-seq")
    }
}
