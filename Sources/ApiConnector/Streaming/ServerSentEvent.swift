// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A server-sent event, as defined by the WHATWG HTML standard.
public struct ServerSentEvent: Sendable, Hashable {
    /// The type of the event; `message` if the server names none.
    public let type: String

    /// The data; several lines are joined with LF.
    public let data: String

    /// The last event ID, from this event or an earlier one; empty if the server has sent none.
    public let id: String

    /// Makes an event, for example for a test.
    public init(type: String = "message", data: String, id: String = "") {
        self.type = type
        self.data = data
        self.id = id
    }
}

extension ServerSentEvent {
    /// Decodes the JSON in the data as a model.
    ///
    /// If all events have the same model, the stream can decode them: `stream(of:at:as:)`.
    ///
    /// - Parameters:
    ///   - model: The model; can be omitted if the compiler can infer it.
    ///   - decoder: The decoder, for example that of the connection's configuration; Foundation's defaults by default.
    /// - Throws: ``ApiConnectorError`` of kind `.decodingFailed`, with the coding path and the JSON found there.
    public func decoded<Model: Decodable>(
        as model: Model.Type = Model.self,
        with decoder: JSONDecoder = JSONDecoder()
    ) throws(ApiConnectorError) -> Model {
        let json = Data(data.utf8)
        do {
            return try decoder.value(model, in: json)
        } catch {
            let failure = DecodingFailure(error, in: json, as: model, with: decoder, isRecord: true)
            throw ApiConnectorError(
                .decodingFailed,
                at: .value,
                "the data of an event does not decode as \(model): \(failure.reason)",
                underlying: error
            )
            .advising(failure.advice)
        }
    }
}

/// Server-sent events, as defined in section 9.2.6, "Interpreting an event stream", of the WHATWG HTML standard.
struct ServerSentEventParser: ElementParser {
    /// The number of events returned.
    private(set) var eventCount = 0
    /// The offset of the last event, in bytes from the start of the body.
    private(set) var eventOffset = 0
    private(set) var isOver = false

    private var lines: RecordSplitter<LineFinder>
    private var fields: EventFields
    private let maximumByteCount: Int
    private let sentinel: EventSentinel?
    private let canBeCut: Bool
    private var isAtEnd = false
    private var start: Int?

    init(_ context: StreamContext, until sentinel: EventSentinel? = nil) {
        lines = RecordSplitter(LineFinder(), maximumByteCount: context.maximumRecordByteCount)
        fields = EventFields(resuming: context.resumePoint)
        maximumByteCount = context.maximumRecordByteCount
        self.sentinel = sentinel
        canBeCut = sentinel?.isOptional == false && !context.forbidsBody
    }

    var resumePoint: ResumePoint? {
        ResumePoint(lastEventID: fields.lastEventID, reconnectionTime: fields.reconnectionTime, isOfFeed: true)
    }

    mutating func append(_ chunk: Data) { lines.append(chunk) }

    // An incomplete line is discarded, and so is an event without a blank line at its end.
    mutating func end() { isAtEnd = true }

    mutating func read(_ batch: inout [ServerSentEvent], upTo count: Int) throws(ApiConnectorError) {
        while batch.count < count, let event = try next() { batch.append(event) }
    }

    @inline(__always)
    mutating func next() throws(ApiConnectorError) -> ServerSentEvent? {
        try nextEvent { fields, sentinel in
            let event = fields.event
            return sentinel?.matches(event) == true ? nil : event
        }
    }

    /// The data of the next event, for a decoder of JSON.
    @inline(__always)
    mutating func nextData() throws(ApiConnectorError) -> Data? {
        try nextEvent { fields, sentinel in sentinel?.matches(fields.event) == true ? nil : fields.dataInUTF8 }
    }

    /// - Parameter make: Makes an event from its fields; nil for the sentinel.
    @inline(__always)
    private mutating func nextEvent<Event>(
        _ make: (EventFields, EventSentinel?) -> Event?
    ) throws(ApiConnectorError) -> Event? {
        guard !isOver else { return nil }
        do throws(ApiConnectorError) {
            while let isBlank = try lines.withNext(&fields, { fields, line in fields.take(line) }) {
                guard isBlank else {
                    if start == nil { start = lines.recordOffset }
                    guard fields.byteCount <= maximumByteCount else { throw tooLarge() }
                    continue
                }
                defer { start = nil }
                guard fields.beginDispatch() else { continue }
                defer { fields.endDispatch() }
                eventCount += 1
                eventOffset = start ?? 0
                if let event = make(fields, sentinel) { return event }
                isOver = true
                return nil
            }
            if isAtEnd, canBeCut { throw .cutEventStream }
            return nil
        } catch {
            isOver = true
            throw error.kind == .recordTooLarge ? tooLarge() : error
        }
    }

    private func tooLarge() -> ApiConnectorError {
        .recordTooLarge(eventCount + 1, at: start ?? lines.recordOffset, limit: maximumByteCount)
    }
}

/// The event that ends a stream.
struct EventSentinel: Sendable {
    /// Whether an event is the sentinel, which is not delivered.
    let matches: @Sendable (ServerSentEvent) -> Bool
    /// Whether a stream without the sentinel is complete.
    let isOptional: Bool
}

extension ApiConnectorError {
    fileprivate static var cutEventStream: ApiConnectorError {
        let detail = "the server ended the stream before the event that marks its end, so the stream is incomplete"
        return ApiConnectorError(.connectionLost, at: .response, detail)
    }
}

/// The buffers of one event, filled line by line.
private struct EventFields: Sendable {
    private(set) var lastEventID: String
    private(set) var reconnectionTime: Duration?

    private var id: String
    private var type = ""
    private var data: [UInt8] = []
    private var hasData = false

    init(resuming point: ResumePoint?) {
        id = point?.lastEventID ?? ""
        lastEventID = id
        reconnectionTime = point?.reconnectionTime
    }

    var byteCount: Int { data.count }

    /// Parses a line; returns true for a blank line.
    @inline(__always)
    mutating func take(_ line: UnsafeRawBufferPointer) -> Bool {
        guard let first = line.first else { return true }
        guard first != UInt8(ascii: ":") else { return false }
        let colon = line.place(of: UInt8(ascii: ":"), from: 0)
        let isSpaced = colon + 1 < line.count && line[colon + 1] == UInt8(ascii: " ")
        let value = UnsafeRawBufferPointer(rebasing: line[min(colon + (isSpaced ? 2 : 1), line.count)...])
        switch colon {
        case 4 where line.starts(with: "data"): takeData(value)
        case 2 where line.starts(with: "id"):
            // The ID applies to all events from this one on. An ID with NUL is ignored.
            if value.place(of: 0, from: 0) == value.count { id = value.text }
        case 5 where line.starts(with: "event"): type = value.text
        case 5 where line.starts(with: "retry"): takeReconnectionTime(value)
        default: break
        }
        return false
    }

    /// Whether there is an event at a blank line: whether it has data.
    @inline(__always)
    mutating func beginDispatch() -> Bool {
        lastEventID = id
        if !hasData { type = "" }
        return hasData
    }

    var event: ServerSentEvent {
        ServerSentEvent(
            type: type.isEmpty ? "message" : type,
            data: String(decoding: data, as: UTF8.self),
            id: id
        )
    }

    /// The data; invalid UTF-8 is replaced by U+FFFD.
    var dataInUTF8: Data {
        let isASCII = data.reduce(0, |) < 0x80
        let isValid = isASCII || String(validating: data, as: UTF8.self) != nil
        return isValid ? Data(data) : Data(String(decoding: data, as: UTF8.self).utf8)
    }

    @inline(__always)
    mutating func endDispatch() {
        type = ""
        hasData = false
        data.removeAll(keepingCapacity: data.count < 1 << 16)
    }

    @inline(__always)
    private mutating func takeData(_ value: UnsafeRawBufferPointer) {
        if hasData { data.append(0x0A) }
        hasData = true
        data.append(contentsOf: value)
    }

    private mutating func takeReconnectionTime(_ value: UnsafeRawBufferPointer) {
        guard value.allSatisfy(ByteSet.decimalDigits.contains), let milliseconds = Int64(value.text) else { return }
        reconnectionTime = .milliseconds(milliseconds)
    }
}

extension UnsafeRawBufferPointer {
    @inline(__always)
    fileprivate func starts(with name: StaticString) -> Bool {
        guard let base = baseAddress, count >= name.utf8CodeUnitCount else { return false }
        return memcmp(base, name.utf8Start, name.utf8CodeUnitCount) == 0
    }

    fileprivate var text: String { String(decoding: self, as: UTF8.self) }
}

/// The data of server-sent events; an event with empty data, such as a ping, has no text.
struct EventTexts: JSONTexts {
    private var events: ServerSentEventParser

    init(_ events: ServerSentEventParser) {
        self.events = events
    }

    var isOver: Bool { events.isOver }

    var resumePoint: ResumePoint? { events.resumePoint }

    mutating func append(_ chunk: Data) { events.append(chunk) }

    mutating func end() { events.end() }

    mutating func next() throws(ApiConnectorError) -> JSONText? {
        while let data = try events.nextData() {
            if data.allSatisfy(\.isJSONSpace) { continue }
            return JSONText(data: data, number: events.eventCount, offset: events.eventOffset)
        }
        return nil
    }
}
