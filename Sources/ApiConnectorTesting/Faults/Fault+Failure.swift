// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension Fault {
    /// The error that a transport would throw; nil if the fault is not an error.
    func failure(of request: ApiRequest) -> ApiConnectorError? {
        let what: (kind: ApiConnectorError.Kind, detail: String)? =
            switch (effect, place) {
            case (.refused, _): (.cannotConnect, "the connection was refused")
            case (.reset, _): (.connectionLost, "the connection was reset \(place.text)")
            case (.timeout, .beforeSending): (.cannotConnect, "no connection was made within \(Self.timeout)")
            case (.timeout, _): (.timedOut, "no data arrived for \(Self.timeout) \(place.text)")
            case (.truncated, _): (.connectionLost, "the server closed the connection \(place.text)")
            case (.malformed, _): (.malformedResponse, "the data \(place.text) is not HTTP")
            case (.garbage, .beforeSending), (.garbage, .head):
                (.malformedResponse, "the data \(place.text) is not HTTP")
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
    fileprivate var text: String {
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
