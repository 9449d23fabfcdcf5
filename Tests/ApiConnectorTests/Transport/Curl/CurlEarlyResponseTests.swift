// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// A server that answers before it has read the request's body (RFC 9113, section 8.1).
@Suite(.needsHTTP2) struct CurlEarlyResponseTests {
    enum Body: String, CaseIterable {
        /// More than the window of a stream, in one piece.
        case whole
        /// More than the window of a stream, from a source.
        case source
        /// A source that yields one byte, and the next ones when the response has come.
        case slowSource
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var status: UInt16
        var body: Body
        var answer: String
        var hasLength: Bool
        var delivery: ResponseDelivery

        var testDescription: String {
            "\(status), \(body), \(answer), \(hasLength ? "length" : "no length"), \(delivery)"
        }
    }

    /// How an attempt to send the request ended.
    private enum Outcome: Equatable {
        case response(Int, Data)
        case failure(ApiConnectorError.Kind)
    }

    static let rows: [Row] = {
        var rows: [Row] = []
        for status: UInt16 in [200, 303, 413] {
            for body in Body.allCases {
                for (answer, hasLength) in [("", false), ("hello", false), ("", true), ("hello", true)] {
                    // While its source has no bytes, a request is not ended by a success with a length.
                    if status == 200, body == .slowSource, answer == "hello", hasLength { continue }
                    for delivery in [ResponseDelivery.standard, .streamed] {
                        rows.append(
                            Row(status: status, body: body, answer: answer, hasLength: hasLength, delivery: delivery)
                        )
                    }
                }
            }
        }
        return rows
    }()

    /// The client has read the response before the server refuses the rest of the body.
    @Test(arguments: rows, [.put, .post] as [HTTPMethod])
    func anEarlyResponseIsDelivered(_ row: Row, _ method: HTTPMethod) async throws {
        let (outcome, count) = try await outcome(row, method, isApart: true)
        #expect(outcome == .response(Int(row.status), Data(row.answer.utf8)))
        #expect(count == 1)
    }

    /// Before 8.6, libcurl reads no more room for the body once the response has its length.
    @Test(
        .enabled(if: CurlRuntime.stopsReadingAtLength),
        arguments: [.whole, .source] as [Body],
        [.standard, .streamed] as [ResponseDelivery]
    )
    func aResponseWithALengthNeedsNoReset(_ body: Body, _ delivery: ResponseDelivery) async throws {
        let row = Row(status: 200, body: body, answer: "hello", hasLength: true, delivery: delivery)
        let (outcome, count) = try await outcome(row, .post, isApart: true, isReset: false)
        #expect(outcome == .response(200, Data("hello".utf8)))
        #expect(count == 1)
    }

    /// libcurl 7.88 drops a response that it reads together with the reset of its stream.
    @Test(arguments: rows) func aPostWhoseResponseIsLostIsSentOnce(_ row: Row) async throws {
        let (outcome, count) = try await outcome(row, .post, isApart: false)
        #expect([.response(Int(row.status), Data(row.answer.utf8)), .failure(.connectionLost)].contains(outcome))
        #expect(count == 1)
    }

    /// The server refuses each request with its head.
    @Test func aRequestWithItsOwnExpectEndsWithThe417() async throws {
        let seen = Locked(0)
        let server = try LoopbackServer { connection in
            try connection.send(HTTP2Frame.settings.bytes)
            try connection.serveRequests { stream in
                seen.withLock { $0 += 1 }
                var head = HTTP2Frame.head(status: [0x08, 3] + Array("417".utf8), isLast: true)
                head.stream = stream
                try connection.send(HTTP2Frame.bytes(of: [head, .ping]))
                try connection.readPingAcknowledgment()
                try connection.send(HTTP2Frame.bytes(of: [.reset(stream, code: 0)]))
            }
        }
        var configuration = CurlConfiguration.patient
        configuration.httpVersion = .http2PriorKnowledge
        let body = RequestBody.data(Data(repeating: 7, count: 500_000))
        var request = ApiRequest(url: server.url(), method: .post, body: body)
        request.headers["Expect"] = "100-continue"
        #expect(try await CurlProvider(configuration: configuration).response(for: request).status == 417)
        #expect(seen.withLock { $0 } <= 2)
    }

    /// The outcome of a call, and how often it was sent.
    ///
    /// - Parameters:
    ///   - isApart: Whether the server waits until the client has read the response, and then resets the stream.
    ///   - isReset: Whether the server resets the stream; true by default.
    private func outcome(
        _ row: Row,
        _ method: HTTPMethod,
        isApart: Bool,
        isReset: Bool = true
    ) async throws -> (Outcome, Int) {
        let seen = Locked(0)
        let answered = Gate("response")
        let server = try LoopbackServer { connection in
            try connection.send(HTTP2Frame.settings.bytes)
            try connection.serveRequests { stream in
                seen.withLock { $0 += 1 }
                var head = HTTP2Frame.head(
                    row.hasLength ? [("content-length", "\(row.answer.utf8.count)")] : [],
                    status: [0x08, 3] + Array("\(row.status)".utf8),
                    isLast: row.answer.isEmpty
                )
                head.stream = stream
                var frames = [head]
                if !row.answer.isEmpty {
                    frames.append(HTTP2Frame(type: 0, flags: 1, stream: stream, payload: Array(row.answer.utf8)))
                }
                if isApart {
                    frames.append(.ping)
                    try connection.send(HTTP2Frame.bytes(of: frames))
                    try connection.readPingAcknowledgment()
                    frames = []
                }
                if isReset { frames.append(.reset(stream, code: 0)) }
                try connection.send(HTTP2Frame.bytes(of: frames))
                answered.open()
            }
        }
        var configuration = CurlConfiguration.patient
        configuration.httpVersion = .http2PriorKnowledge
        configuration.streamsOverHTTP2 = true
        let provider = CurlProvider(configuration: configuration)
        let body: RequestBody =
            switch row.body {
            case .whole: .data(Data(repeating: 7, count: 500_000))
            case .source:
                .stream(isReplayable: true) {
                    AsyncStream { continuation in
                        for _ in 0..<50 { continuation.yield(Data(repeating: 7, count: 10_000)) }
                        continuation.finish()
                    }
                }
            case .slowSource:
                .stream(isReplayable: true) {
                    AsyncStream { continuation in
                        continuation.yield(Data([7]))
                        let bytes = Task {
                            try await answered.opened()
                            while !Task.isCancelled {
                                continuation.yield(Data([7]))
                                await Task.yield()
                            }
                        }
                        continuation.onTermination = { _ in bytes.cancel() }
                    }
                }
            }
        let request = ApiRequest(url: server.url(), method: method, body: body, delivery: row.delivery)
        do throws(ApiConnectorError) {
            let response = try await provider.response(for: request)
            let answer = try await response.body.collect(upTo: 100)
            return (.response(response.status.rawValue, answer), seen.withLock { $0 })
        } catch {
            return (.failure(error.kind), seen.withLock { $0 })
        }
    }
}

extension LoopbackConnection {
    /// Speaks HTTP/2 without TLS, and tells of each request by its stream once its head has come.
    fileprivate func serveRequests(_ onHead: (UInt32) throws -> Void) throws {
        _ = try read(24)
        while true {
            let head = [UInt8](try read(9))
            _ = try read(Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2]))
            switch head[3] {
            case 4 where head[4] & 1 == 0: try send(HTTP2Frame.settingsAcknowledgment)
            case 1: try onHead(head[5...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
            default: break
            }
        }
    }
}
#endif
