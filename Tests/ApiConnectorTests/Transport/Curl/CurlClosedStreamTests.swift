// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// A server that closes an HTTP/2 stream or connection in place of a response.
@Suite(.needsHTTP2) struct CurlClosedStreamTests {
    /// The stream that a server closes: on a new connection, and on a reused one.
    private static let streams: [UInt32] = [1, 3]
    private let provider: CurlProvider
    /// Each request that a server has read, as connection and stream.
    private let seen = SeenStreams()

    init() {
        var configuration = CurlConfiguration.patient
        configuration.httpVersion = .http2PriorKnowledge
        provider = CurlProvider(configuration: configuration)
    }

    /// Closes this stream of the first connection in some way, and answers all others.
    private func server(
        closing closed: UInt32,
        _ close: @escaping @Sendable (LoopbackConnection, UInt32) throws -> Void
    ) throws -> LoopbackServer {
        try LoopbackServer { [seen] connection in
            try connection.serveHTTP2 { stream in
                seen.all.withLock { $0.append("\(connection.index).\(stream)") }
                if connection.index == 0, stream == closed {
                    try close(connection, stream)
                } else {
                    try connection.send(.ok(stream))
                }
            }
        }
    }

    private func status(_ method: HTTPMethod, _ server: LoopbackServer) async throws -> HTTPStatus {
        try await status(method, server, body: method == .get ? .empty : .text("body"))
    }

    private func status(
        _ method: HTTPMethod,
        _ server: LoopbackServer,
        body: RequestBody
    ) async throws -> HTTPStatus {
        try await provider.response(for: ApiRequest(url: server.url(), method: method, body: body)).status
    }

    /// A server that refuses this stream of the first connection.
    private func server(refusing refused: UInt32) throws -> LoopbackServer {
        try server(closing: refused) { connection, stream in
            try connection.send(.reset(stream, code: HTTP2Frame.refusedStream))
        }
    }

    /// A server that names the stream before this one as the last that it processes.
    private func server(processingUpTo last: UInt32) throws -> LoopbackServer {
        try server(closing: last) { connection, stream in
            try connection.send(.goAway(last: stream == 1 ? 0 : stream - 2))
        }
    }

    private static func stream(isReplayable: Bool) -> RequestBody {
        .stream(isReplayable: isReplayable) {
            AsyncStream { continuation in
                continuation.yield(Data("body".utf8))
                continuation.finish()
            }
        }
    }

    private func expectLoss(of method: HTTPMethod, to server: LoopbackServer) async {
        let error = await #expect(throws: ApiConnectorError.self) { try await status(method, server) }
        #expect(error?.kind == .connectionLost, "\(error?.detail ?? "")")
        #expect(error?.bytesSent == .all)
    }

    /// RFC 9113, section 8.7: the server has not processed it.
    @Test(.needsTexts, arguments: [.get, .put, .post] as [HTTPMethod], streams)
    func aRefusedStreamIsRetried(_ method: HTTPMethod, _ refused: UInt32) async throws {
        let server = try server(refusing: refused)
        if refused == 3 { #expect(try await status(.get, server) == 200) }
        #expect(try await status(method, server) == 200)
        #expect(seen.all.withLock { $0 } == (refused == 1 ? ["0.1", "1.1"] : ["0.1", "0.3", "1.1"]))
    }

    @Test(.needsTexts, arguments: streams)
    func aRefusedUploadIsRetried(_ refused: UInt32) async throws {
        let server = try server(refusing: refused)
        if refused == 3 { #expect(try await status(.get, server) == 200) }
        #expect(try await status(.post, server, body: Self.stream(isReplayable: true)) == 200)
        #expect(seen.all.withLock { $0 } == (refused == 1 ? ["0.1", "1.1"] : ["0.1", "0.3", "1.1"]))
    }

    @Test(arguments: streams)
    func aRefusedUploadThatCannotBeReadAgainSaysSo(_ refused: UInt32) async throws {
        let server = try server(refusing: refused)
        if refused == 3 { #expect(try await status(.get, server) == 200) }
        let error = await #expect(throws: ApiConnectorError.self) {
            try await status(.post, server, body: Self.stream(isReplayable: false))
        }
        #expect(error?.kind == .notReplayable, "\(error?.detail ?? "")")
        #expect(seen.all.withLock { $0 } == (refused == 1 ? ["0.1"] : ["0.1", "0.3"]))
    }

    /// A server that refuses all requests gets each one twice; libcurl by itself sends it six times.
    @Test(.needsTexts, arguments: [.get, .post] as [HTTPMethod])
    func aRequestThatIsAlwaysRefusedEnds(_ method: HTTPMethod) async throws {
        let server = try LoopbackServer { [seen] connection in
            try connection.serveHTTP2 { stream in
                seen.all.withLock { $0.append("\(connection.index).\(stream)") }
                try connection.send(.reset(stream, code: HTTP2Frame.refusedStream))
            }
        }
        let error = await #expect(throws: ApiConnectorError.self) { try await status(method, server) }
        #expect(error?.kind == .connectionLost, "\(error?.detail ?? "")")
        #expect(error?.bytesSent == .all)
        #expect(seen.all.withLock { $0 }.count == (method == .get ? 3 : 2))
    }

    @Test(.needsTexts, arguments: streams) func aPostWhoseStreamFailedIsSentOnce(_ closed: UInt32) async throws {
        let server = try server(closing: closed) { connection, stream in
            try connection.send(.reset(stream, code: HTTP2Frame.internalError))
        }
        if closed == 3 { #expect(try await status(.get, server) == 200) }
        await expectLoss(of: .post, to: server)
        #expect(seen.all.withLock { $0 } == (closed == 1 ? ["0.1"] : ["0.1", "0.3"]))
    }

    @Test(.needsTexts, arguments: streams) func aPostWhoseConnectionEndedIsSentOnce(_ closed: UInt32) async throws {
        let server = try server(closing: closed) { connection, _ in connection.close() }
        if closed == 3 { #expect(try await status(.get, server) == 200) }
        await expectLoss(of: .post, to: server)
        #expect(seen.all.withLock { $0 } == (closed == 1 ? ["0.1"] : ["0.1", "0.3"]))
    }

    /// RFC 9113, section 6.8: the server names an earlier stream as the last that it processes.
    @Test(.needsTexts, arguments: [.get, .post] as [HTTPMethod], streams)
    func aRequestAfterTheLastStreamIsRetried(_ method: HTTPMethod, _ closed: UInt32) async throws {
        let server = try server(processingUpTo: closed)
        if closed == 3 { #expect(try await status(.get, server) == 200) }
        #expect(try await status(method, server) == 200)
        #expect(seen.all.withLock { $0 } == (closed == 1 ? ["0.1", "1.1"] : ["0.1", "0.3", "1.1"]))
    }

    /// One transfer reads the GOAWAY for both.
    @Test(.needsTexts) func twoPostsAfterTheLastStreamAreRetried() async throws {
        let server = try LoopbackServer { [seen] connection in
            try connection.serveHTTP2 { stream in
                seen.all.withLock { $0.append(connection.index == 0 ? "0.\(stream)" : "again") }
                if connection.index > 0 || stream == 1 {
                    try connection.send(.ok(stream))
                } else if stream == 5 {
                    try connection.send(.goAway(last: 1))
                }
            }
        }
        #expect(try await status(.get, server) == 200)
        async let first = status(.post, server)
        async let second = status(.post, server)
        #expect(try await [first, second] == [200, 200])
        #expect(seen.all.withLock { $0 } == ["0.1", "0.3", "0.5", "again", "again"])
    }

    /// The caller has nothing of a collected response that broke off.
    @Test(.needsTexts, arguments: [.get, .post] as [HTTPMethod])
    func aTruncatedResponseIsRetriedIfThatIsSafe(_ method: HTTPMethod) async throws {
        let server = try server(closing: 1) { connection, stream in
            try connection.send(HTTP2Frame(type: 1, flags: 4, stream: stream, payload: [0x88]))
            try connection.waitUntilDelivered()
            connection.close()
        }
        if method == .get {
            #expect(try await status(.get, server) == 200)
        } else {
            await expectLoss(of: .post, to: server)
        }
        #expect(seen.all.withLock { $0 } == (method == .get ? ["0.1", "1.1"] : ["0.1"]))
    }

    /// libcurl from 8.14 on keeps a connection that has ended and that the library refuses.
    @Test(arguments: [false, true]) func anEndedConnectionIsReplacedOnce(_ saysGoodbye: Bool) async throws {
        let isClosed = Gate("closed")
        let server = try LoopbackServer { connection in
            try connection.serveHTTP2 { stream in
                if connection.index == 0, saysGoodbye { try connection.send(.goAway(last: 1)) }
                try connection.send(.ok(stream))
                guard connection.index == 0 else { return }
                connection.close()
                isClosed.open()
            }
        }
        #expect(try await status(.get, server) == 200)
        try await isClosed.opened()
        for _ in 0..<5 { #expect(try await status(.get, server) == 200) }
        #expect(server.connectionCount == 2)
    }

    // MARK: Without libcurl's texts

    /// How a server closes a stream that it may or may not have processed, as far as the client can tell.
    enum Close: CaseIterable {
        case refusal, failure, goAway, end

        func close(_ connection: LoopbackConnection, _ stream: UInt32) throws {
            switch self {
            case .refusal: try connection.send(.reset(stream, code: HTTP2Frame.refusedStream))
            case .failure: try connection.send(.reset(stream, code: HTTP2Frame.internalError))
            case .goAway: try connection.send(.goAway(last: stream == 1 ? 0 : stream - 2))
            case .end: connection.close()
            }
        }
    }

    /// Over a newer libcurl than any that was tried, no text proves that a request was not processed, or that the bytes of
    /// a response were valid.
    @Test(.needsUnknownTexts, arguments: Close.allCases, streams)
    func anUnknownVersionSendsAPostOnce(_ close: Close, _ closed: UInt32) async throws {
        let server = try server(closing: closed, close.close)
        if closed == 3 { #expect(try await status(.get, server) == 200) }
        let error = await #expect(throws: ApiConnectorError.self) { try await status(.post, server) }
        #expect([.connectionLost, .malformedResponse].contains(error?.kind), "\(error?.detail ?? "")")
        #expect(seen.all.withLock { $0 } == (closed == 1 ? ["0.1"] : ["0.1", "0.3"]))
    }

    /// libcurl's code 92 alone does not tell a violation from a failure of the server.
    @Test(.needsUnknownTexts) func anUnknownVersionDoesNotRepeatAGetThatMayBeMalformed() async throws {
        let server = try server(closing: 1, Close.failure.close)
        let error = await #expect(throws: ApiConnectorError.self) { try await status(.get, server) }
        #expect(error?.kind == .malformedResponse, "\(error?.detail ?? "")")
        #expect(seen.all.withLock { $0 } == ["0.1"])
    }

    /// libcurl itself sends a refused request again.
    @Test(.needsUnknownTexts) func anUnknownVersionRepeatsARefusedGet() async throws {
        let server = try server(closing: 1, Close.refusal.close)
        #expect(try await status(.get, server) == 200)
        #expect(seen.all.withLock { $0 } == ["0.1", "1.1"])
    }

    /// Each connection answers three requests and says farewell with the third, as nginx does at `keepalive_requests`.
    @Test func callsSurviveConnectionsOfAFewRequests() async throws {
        let server = try LoopbackServer { connection in
            try connection.serveHTTP2 { stream in
                guard stream <= 5 else { return }
                if stream == 5 { try connection.send(.goAway(last: 5)) }
                try connection.send(.ok(stream))
            }
        }
        try await withThrowingTaskGroup(of: HTTPStatus.self) { group in
            for _ in 0..<30 { group.addTask { try await status(.get, server) } }
            for try await status in group { #expect(status == 200) }
        }
    }
}

private final class SeenStreams: Sendable {
    let all = Locked<[String]>([])
}
#endif
