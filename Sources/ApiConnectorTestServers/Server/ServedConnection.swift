// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

/// One connection of a ``ScriptServer``: one request, answered on the connection's own thread.
///
/// The connection is closed after the answer. If a request on a reused connection failed, a client would retry the
/// request on another connection, which no test expects.
struct ServedConnection {
    private let connection: LoopbackConnection
    private let source: AdaptedResponses
    private let root: URL?

    init(_ connection: LoopbackConnection, _ source: AdaptedResponses, _ root: URL?) {
        self.connection = connection
        self.source = source
        self.root = root
    }

    func serve() throws {
        var source = source
        defer { source.giveUp() }
        let sent: LoopbackRequest
        do {
            let request = try connection.readRequest { head in
                // The code below handles malformed and refused requests.
                guard case .request(let request)? = served(head) else { return }
                source = source.receiving(request)
                source.whenStopped { [connection] in connection.abandon() }
            }
            guard let request else { return }
            sent = request
        } catch LoopbackError.malformedRequest(let reason) {
            return try refuse(400, "it is not an HTTP/1.1 request: \(reason)")
        }
        switch served(sent) {
        case nil: try refuse(400, "it has no valid Host field")
        case .refused(let reason)?: try refuse(501, reason)
        case .request(let request)?: try answer(request, from: source)
        }
    }

    /// Reads a request; nil if it does not name a server.
    private func served(_ request: LoopbackRequest) -> ServedRequest? {
        guard let root = root ?? URL(string: "http://\(request.header("Host") ?? "")/") else { return nil }
        return ServedRequest(request, standingFor: root)
    }

    private func answer(_ request: ApiRequest, from source: AdaptedResponses) throws {
        let work = BlockingWork()
        connection.whenPeerHasGone { work.cancel() }
        let response: ApiResponse
        do throws(ApiConnectorError) {
            response = try work.result { [source] () async throws(ApiConnectorError) in
                try await TestConnector(source).response(for: request)
            }
        } catch {
            return try fail(error)
        }
        if let body = response.body.collected {
            return try connection.send(head(of: response, bodyByteCount: body.count) + body)
        }
        try connection.send(head(of: response, bodyByteCount: nil))
        var iterator = response.body.makeAsyncIterator()
        while true {
            let position = iterator
            // If this throws, the body ends without its last chunk, so the client notices that it broke off.
            let (chunk, next) = try work.result { () async throws(ApiConnectorError) in
                var iterator = position
                return (try await iterator.next(), iterator)
            }
            guard let chunk else { return try connection.sendChunk(Data()) }
            try connection.sendChunk(chunk)
            iterator = next
        }
    }

    /// The bytes of the head.
    ///
    /// This connection's framing replaces the framing of the answer.
    private func head(of response: ApiResponse, bodyByteCount: Int?) -> Data {
        var headers = response.headers
        for name in ServedRequest.hopFields { headers.remove(name) }
        if !response.forbidsBody {
            headers.remove(.contentLength)
            if let bodyByteCount {
                headers.append(.contentLength, "\(bodyByteCount)")
            } else {
                headers.append("Transfer-Encoding", "chunked")
            }
        }
        headers.append("Connection", "close")
        let status = response.status.description
        var text = "HTTP/1.1 \(status.contains(" ") ? status : status + " ")\r\n"
        for field in headers { text += "\(field.name.rawValue): \(field.value)\r\n" }
        return Data((text + "\r\n").utf8)
    }

    /// Sends a failure as far as a socket can.
    private func fail(_ error: ApiConnectorError) throws {
        switch error.kind {
        case .connectionLost, .cancelled: return
        case .malformedResponse: try connection.send("this is no HTTP\r\n\r\n")
        case .unmatched: try send(501, error.detail)
        default: try refuse(501, "a server cannot send this failure: \(error.detail)")
        }
    }

    private func refuse(_ status: Int, _ reason: String) throws {
        source.refuse("A ScriptServer refused a request: \(reason).")
        try send(status, reason)
    }

    private func send(_ status: Int, _ text: String) throws {
        var response = LoopbackResponse.text(text + ".\n", status: status)
        response.headers.append((name: "Connection", value: "close"))
        try connection.send(response.bytes(answering: "GET"))
    }
}

extension AdapterLimits {
    /// The answers that a socket cannot send.
    static let socket = AdapterLimits(ofMatcher: routeless("a socket")) { response in
        if case .response(let status, _, _) = response.answer, !(200...999 ~= status.rawValue) {
            return "\(status) is not a final status; a server sends 200 to 999"
        }
        for error in response.failures {
            switch ApiConnectorError.kind(of: error) {
            case .connectionLost, .malformedResponse, .unmatched: continue
            case .timedOut, .stalled, .deadlineExceeded:
                return
                    "a server cannot make its client time out; answer .never, so that the "
                    + "client's own timeout ends the call"
            case let kind: return "a server cannot send a failure of kind \(kind) to a client that has reached it"
            }
        }
        return nil
    }
}
