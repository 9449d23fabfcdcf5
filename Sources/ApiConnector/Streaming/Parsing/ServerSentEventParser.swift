// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

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
        guard !isOver else { return nil }
        do throws(ApiConnectorError) {
            while let isBlank = try lines.withNext(&fields, { fields, line in fields.take(line) }) {
                if isBlank {
                    guard let event = dispatch() else { continue }
                    guard sentinel?.matches(event) != true else {
                        isOver = true
                        return nil
                    }
                    return event
                }
                if start == nil { start = lines.recordOffset }
                guard fields.byteCount <= maximumByteCount else { throw tooLarge() }
            }
            if isAtEnd, canBeCut { throw .cutEventStream }
            return nil
        } catch {
            isOver = true
            throw error.kind == .recordTooLarge ? tooLarge() : error
        }
    }

    private mutating func dispatch() -> ServerSentEvent? {
        defer { start = nil }
        guard let event = fields.dispatch() else { return nil }
        eventCount += 1
        eventOffset = start ?? 0
        return event
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

    /// The event at a blank line; nil if it has no data.
    @inline(__always)
    mutating func dispatch() -> ServerSentEvent? {
        lastEventID = id
        defer { type = "" }
        guard hasData else { return nil }
        hasData = false
        defer { data.removeAll(keepingCapacity: data.count < 1 << 16) }
        return ServerSentEvent(
            type: type.isEmpty ? "message" : type,
            data: String(decoding: data, as: UTF8.self),
            id: id
        )
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
