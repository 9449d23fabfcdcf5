// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnector
import ApiConnectorTesting
import Testing

/// A server that closes an HTTP/2 stream or connection in place of a response.
@Suite struct CurlClosedStreamTests {
    private let provider: CurlProvider
    /// Each request that a server has read, as connection and stream.
    private let seen = SeenStreams()

    init() {
        var configuration = CurlConfiguration()
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
        let body: RequestBody = method == .post ? .text("body") : .empty
        return try await provider.response(for: ApiRequest(url: server.url(), method: method, body: body)).status
    }

    private func expectLoss(of method: HTTPMethod, to server: LoopbackServer) async {
        let error = await #expect(throws: ApiConnectorError.self) { try await status(method, server) }
        #expect(error?.kind == .connectionLost, "\(error?.detail ?? "")")
        #expect(error?.bytesSent == .all)
    }

    /// RFC 9113, section 8.7: the server has not processed it.
    @Test(arguments: [.get, .put] as [HTTPMethod]) func aRefusedStreamIsSentAgain(_ method: HTTPMethod) async throws {
        for closed in [1, 3] as [UInt32] {
            seen.all.withLock { $0 = [] }
            let server = try server(closing: closed) { connection, stream in
                try connection.send(.reset(stream, code: HTTP2Frame.refusedStream))
            }
            if closed == 3 { #expect(try await status(.get, server) == 200) }
            #expect(try await status(method, server) == 200)
            #expect(seen.all.withLock { $0 } == (closed == 1 ? ["0.1", "1.1"] : ["0.1", "0.3", "1.1"]))
        }
    }

    @Test(arguments: [1, 3] as [UInt32]) func aPostWhoseStreamFailedIsSentOnce(_ closed: UInt32) async throws {
        let server = try server(closing: closed) { connection, stream in
            try connection.send(.reset(stream, code: HTTP2Frame.internalError))
        }
        if closed == 3 { #expect(try await status(.get, server) == 200) }
        await expectLoss(of: .post, to: server)
        #expect(seen.all.withLock { $0 } == (closed == 1 ? ["0.1"] : ["0.1", "0.3"]))
    }

    @Test(arguments: [1, 3] as [UInt32]) func aPostWhoseConnectionEndedIsSentOnce(_ closed: UInt32) async throws {
        let server = try server(closing: closed) { connection, _ in connection.close() }
        if closed == 3 { #expect(try await status(.get, server) == 200) }
        await expectLoss(of: .post, to: server)
        #expect(seen.all.withLock { $0 } == (closed == 1 ? ["0.1"] : ["0.1", "0.3"]))
    }

    /// The server names an earlier stream as the last that it processes.
    @Test(arguments: [1, 3] as [UInt32]) func aGetAfterTheLastStreamIsSentAgain(_ closed: UInt32) async throws {
        let server = try server(closing: closed) { connection, stream in
            try connection.send(.goAway(last: stream == 1 ? 0 : stream - 2))
        }
        if closed == 3 { #expect(try await status(.get, server) == 200) }
        #expect(try await status(.get, server) == 200)
        #expect(seen.all.withLock { $0 } == (closed == 1 ? ["0.1", "1.1"] : ["0.1", "0.3", "1.1"]))
    }

    /// libcurl 7.88 does not tell this apart from a failure after which the request may have been processed.
    @Test(arguments: [1, 3] as [UInt32]) func aPostAfterTheLastStreamIsProcessedOnceAtMost(_ closed: UInt32)
        async throws
    {
        let server = try server(closing: closed) { connection, stream in
            try connection.send(.goAway(last: stream == 1 ? 0 : stream - 2))
        }
        if closed == 3 { #expect(try await status(.get, server) == 200) }
        await expectLoss(of: .post, to: server)
        #expect(seen.all.withLock { $0 } == (closed == 1 ? ["0.1"] : ["0.1", "0.3"]))
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
