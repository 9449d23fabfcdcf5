// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A fault in one exchange: its effect and its place.
///
/// ```swift
/// Fault(.reset, at: .head)
/// Fault(.status(503, retryAfter: .seconds(2)), at: .beforeSending)
/// Fault("truncated@12")
/// ```
public struct Fault: Sendable, Hashable {
    /// The place of a fault in an exchange.
    public enum Place: Sendable, Hashable {
        /// Before the request reaches the server. The wrapped provider is not called.
        case beforeSending
        /// After the server has handled the request, before the head of its response is complete.
        case head
        /// After this number of body bytes. In a shorter body, at its end.
        case byte(Int)
        /// After the last byte of the body, before the transport sees the end.
        case end
    }

    /// The effect of a fault.
    ///
    /// An error has the kind that the transports use for the same event. If the body is collected, the provider throws
    /// the error. If it is streamed, the body throws the error.
    public enum Effect: Sendable, Hashable {
        /// The connection is refused: kind `.cannotConnect`. The place is always before sending.
        case refused
        /// The connection is reset: kind `.connectionLost`.
        case reset
        /// The server stays silent, and the transport gives up after 30 seconds: kind `.timedOut`. At the place
        /// `beforeSending`, no connection is made in this time: kind `.cannotConnect`.
        case timeout
        /// The server stays silent forever; a timeout or a cancel must end the call.
        case stall
        /// The server closes the connection too early, and the transport notices: kind `.connectionLost`.
        case truncated
        /// The next bytes are not HTTP, such as a chunk without a length: kind `.malformedResponse`.
        case malformed
        /// A page of HTML with this status replaces the server's response. A place in the body becomes the head.
        ///
        /// `Retry-After` is rounded up to whole seconds, from 0 to one year. There is none by default.
        case status(HTTPStatus, retryAfter: Duration? = nil)
        /// Bytes that are not valid UTF-8 replace the rest of the body, without an error. The body keeps its
        /// size. If the place is the end of the body, 16 such bytes are added. At the head, the effect is an error of
        /// kind `.malformedResponse`.
        case garbage
    }

    /// The effect.
    public let effect: Effect

    /// The place.
    public let place: Place

    /// Makes a fault.
    ///
    /// If the effect is not possible at the place, the nearest possible place is used.
    public init(_ effect: Effect, at place: Place) {
        switch (effect, place) {
        case (.refused, _):
            self.effect = effect
            self.place = .beforeSending
        case (.status(let status, let wait), _):
            self.effect = .status(status, retryAfter: wait.map(Self.wholeSeconds))
            self.place = place == .beforeSending ? .beforeSending : .head
        case (_, .byte(let count)):
            self.effect = effect
            self.place = .byte(max(count, 0))
        default:
            self.effect = effect
            self.place = place
        }
    }

    private static func wholeSeconds(_ wait: Duration) -> Duration {
        let year = Duration.seconds(365 * 86_400)
        return .seconds(Int64((min(max(wait, .zero), year) / .seconds(1)).rounded(.up)))
    }

    /// The timeout of the simulated transport: 30 seconds, on the request's time source.
    static let timeout = Duration.seconds(30)
}

extension Fault {
    /// The error that a transport would throw; nil if the fault is not an error.
    func failure(of request: ApiRequest) -> ApiConnectorError? {
        let what: (kind: ApiConnectorError.Kind, detail: String)? =
            switch (effect, place) {
            case (.refused, _): (.cannotConnect, "the connection was refused")
            case (.reset, _): (.connectionLost, "the connection was reset \(place.inWords)")
            case (.timeout, .beforeSending): (.cannotConnect, "no connection was made within \(Self.timeout)")
            case (.timeout, _): (.timedOut, "no data arrived for \(Self.timeout) \(place.inWords)")
            case (.truncated, _): (.connectionLost, "the server closed the connection \(place.inWords)")
            case (.malformed, _): (.malformedResponse, "the data \(place.inWords) is not HTTP")
            case (.garbage, .beforeSending), (.garbage, .head):
                (.malformedResponse, "the data \(place.inWords) is not HTTP")
            case (.garbage, _), (.stall, _), (.status, _): nil
            }
        return what.map { ApiConnectorError($0.kind, "\($0.detail), an injected fault", request: request) }
    }

    /// Whether the server stays silent for a while, or forever.
    var isSilent: Bool { effect == .stall || effect == .timeout }

    func silence(of request: ApiRequest) -> Silence {
        Silence(of: request, timeout: effect == .timeout ? failure(of: request) : nil)
    }

    /// Returns the response that replaces the server's response, or throws the error of the transport.
    func answer(to request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        if case .status(let status, let wait) = effect { return ApiResponse(to: request, page: status, wait) }
        if isSilent { throw await silence(of: request).wait() }
        throw failure(of: request) ?? ApiConnectorError(.other, "an injected fault", request: request)
    }

    /// Applies the fault to a collected body.
    func applied(to body: Data, of request: ApiRequest) async throws(ApiConnectorError) -> Data {
        if isSilent { throw await silence(of: request).wait() }
        if let failure = failure(of: request) { throw failure }
        return garbled(body, at: 0) + (strikesAtEnd(body.count) ? Self.garbage(at: body.count, byteCount: 16) : Data())
    }

    /// Whether the fault occurs at the end of a body of `byteCount` bytes: its place is the end, or a byte that the
    /// body does not have.
    func strikesAtEnd(_ byteCount: Int) -> Bool {
        if case .byte(let count) = place { count >= byteCount } else { true }
    }

    /// A chunk in which garbage replaces the bytes after the fault's place.
    func garbled(_ chunk: Data, at offset: Int) -> Data {
        guard effect == .garbage, case .byte(let count) = place, offset + chunk.count > count else { return chunk }
        let kept = max(count - offset, 0)
        return chunk.prefix(kept) + Self.garbage(at: offset + kept, byteCount: chunk.count - kept)
    }

    /// Bytes that are not valid UTF-8.
    static func garbage(at offset: Int, byteCount: Int) -> Data {
        Data((offset..<offset + byteCount).map { 0xF8 + UInt8(truncatingIfNeeded: $0 &* 5 % 8) })
    }
}

extension Fault.Place {
    /// The place as the end of a sentence.
    fileprivate var inWords: String {
        switch self {
        case .beforeSending: "before the request was sent"
        case .head: "in the head of the response"
        case .byte(let count): "after \(count) bytes of the body"
        case .end: "at the end of the body"
        }
    }
}

extension ApiResponse {
    /// Makes a page of HTML such as proxies send.
    fileprivate init(to request: ApiRequest, page status: HTTPStatus, _ wait: Duration?) {
        self.init(to: request, status: status, headers: [.contentType: "text/html; charset=utf-8"])
        if let wait { headers[.retryAfter] = String(wait.components.seconds) }
        if !forbidsBody { body = ResponseBody(Data("<html><body><h1>\(status)</h1></body></html>".utf8)) }
    }
}

/// The text form is the effect and the place, such as `refused@send`, `truncated@12`, `stall@end` and `503@head`.
/// `429+2@send` is a 429 with `Retry-After: 2`.
extension Fault: LosslessStringConvertible, Codable {
    /// Parses a fault; nil if the text is not a fault.
    public init?(_ description: String) {
        let parts = description.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, let effect = Effect(text: parts[0]), let place = Place(text: parts[1]) else {
            return nil
        }
        self.init(effect, at: place)
        // If the initializer has changed the place, the text is not a valid text form.
        if self.place != place { return nil }
    }

    /// The text form.
    public var description: String { "\(effect.text)@\(place.text)" }

    /// Decodes the text form.
    public init(from decoder: any Decoder) throws {
        self = try Self.decode(from: decoder)
    }

    /// Encodes the text form.
    public func encode(to encoder: any Encoder) throws {
        try encodeText(to: encoder)
    }
}

extension Fault.Place {
    fileprivate init?(text: Substring) {
        switch text {
        case "send": self = .beforeSending
        case "head": self = .head
        case "end": self = .end
        default:
            guard let count = Int(text), count >= 0 else { return nil }
            self = .byte(count)
        }
    }

    fileprivate var text: String {
        switch self {
        case .beforeSending: "send"
        case .head: "head"
        case .byte(let count): String(count)
        case .end: "end"
        }
    }
}

extension Fault.Effect {
    private static let names: [(name: String, effect: Self)] = [
        ("refused", .refused), ("reset", .reset), ("timeout", .timeout), ("stall", .stall), ("truncated", .truncated),
        ("malformed", .malformed), ("garbage", .garbage),
    ]

    fileprivate init?(text: Substring) {
        if let known = Self.names.first(where: { $0.name == text }) {
            self = known.effect
            return
        }
        let numbers = text.split(separator: "+", omittingEmptySubsequences: false).map { Int($0) }
        guard (1...2).contains(numbers.count), let status = numbers[0] else { return nil }
        guard numbers.count == 2 else {
            self = .status(HTTPStatus(rawValue: status))
            return
        }
        guard let wait = numbers[1], wait >= 0 else { return nil }
        self = .status(HTTPStatus(rawValue: status), retryAfter: .seconds(wait))
    }

    fileprivate var text: String {
        guard case .status(let status, let wait) = self else {
            return Self.names.first { $0.effect == self }?.name ?? ""
        }
        return "\(status.rawValue)" + (wait.map { "+\($0.components.seconds)" } ?? "")
    }
}

extension LosslessStringConvertible {
    /// Decodes a value from its text.
    static func decode(from decoder: any Decoder) throws -> Self {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let value = Self(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text) is not a \(Self.self)")
        }
        return value
    }

    func encodeText(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
