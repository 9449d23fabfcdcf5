// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// A stream is sent again up to its first chunk, and never after it.
@Suite(.timeLimit(.minutes(10))) struct RetriedStreamTests {
    private let clock = ManualClock()
    private let sent = EventLog<Int>()
}

extension RetriedStreamTests {
    private func connection(
        _ timeouts: Timeouts = .unlimited,
        _ answer: @escaping @Sendable (ApiRequest) -> TestConnectorResponse
    ) -> NetworkConnector<some DataRequestType, Router> {
        let provider = TestConnector { [sent] request in
            sent.note(request.attempt)
            return answer(request)
        }
        let configuration = ConnectionConfiguration(timeouts: timeouts, timeSource: clock)
        return NetworkConnector(
            environment: .test,
            provider: provider.retrying(.halfWay),
            configuration: configuration
        )
    }

    /// Reads a stream of lines to its end or its failure.
    private func lines(
        of api: NetworkConnector<some DataRequestType, Router>,
        at route: Router = .me
    ) async throws -> ([String], ApiConnectorError?) {
        try await clock.moving {
            var lines: [String] = []
            do throws(ApiConnectorError) {
                for try await line in api.stream(at: route, as: .lines) { lines.append(line) }
                return (lines, nil)
            } catch {
                return (lines, error)
            }
        }.0
    }

    @Test func aRetryableStatusIsRetried() async throws {
        let api = connection { $0.attempt < 3 ? .status(503) : .chunks([Data("a\nb\n".utf8)]) }
        let (lines, error) = try await lines(of: api)
        #expect(lines == ["a", "b"])
        #expect(error == nil)
        #expect(sent.events == [1, 2, 3])
    }

    @Test func aLostConnectionBeforeTheFirstChunkIsRetried() async throws {
        let broken = TestConnectorResponse.chunks([Data("a\nb\n".utf8)])
        let api = connection { $0.attempt < 2 ? broken.failing(.afterByteCount(0)) : broken }
        let (lines, error) = try await lines(of: api)
        #expect(lines == ["a", "b"])
        #expect(error == nil)
        #expect(sent.events == [1, 2])
    }

    @Test func aStallBeforeTheFirstChunkIsRetried() async throws {
        let asked = Gate("the first attempt")
        let api = connection(Timeouts(stall: .seconds(30))) { request in
            asked.open()
            return request.attempt < 2 ? .feed(BodyFeed()) : .chunks([Data("a\n".utf8)])
        }
        let reading = Task { () async throws(ApiConnectorError) -> [String] in
            var lines: [String] = []
            for try await line in api.stream(at: .me, as: .lines) { lines.append(line) }
            return lines
        }
        try await asked.opened()
        try await clock.move(through: .milliseconds(250))
        #expect(try await reading.value == ["a"])
        #expect(sent.events == [1, 2])
    }

    @Test func aLostConnectionAfterTheFirstChunkIsFinal() async throws {
        let answer = TestConnectorResponse.chunks([Data("a\n".utf8), Data("b\n".utf8)]).failing(.afterByteCount(2))
        let api = connection { $0.attempt < 2 ? .status(503) : answer }
        let (lines, error) = try await lines(of: api)
        #expect(lines == ["a"])
        #expect(error?.kind == .connectionLost)
        #expect(error?.earlierAttempts.map(\.status) == [503])
        #expect(sent.events == [1, 2])
    }

    @Test func aPostOfAStreamIsNotRetriedAndItsHeadIsNotDelayed() async throws {
        let feed = BodyFeed()
        var request = ApiRequest(url: try #require(URL(string: "http://api.example.com/chat")), method: .post)
        request.delivery = .streamed
        let provider = TestConnector { _ in .feed(feed) }.retrying()
        let response = try await provider.response(for: request)
        #expect(response.status == 200)
        feed.fail()
        var chunks = response.body.makeAsyncIterator()
        let error = await #expect(throws: ApiConnectorError.self) { try await chunks.next() }
        #expect(error?.kind == .connectionLost)
    }

    @Test func everyByteIsThere() async throws {
        let all = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        let api = connection { request in
            request.attempt < 2 ? .status(503) : .data(all).chunked(byteCount: 4096)
        }
        let (body, _) = try await clock.moving {
            await Result { () async throws(ApiConnectorError) in
                var body = Data()
                for try await chunk in api.stream(at: .me, as: .chunks) { body += chunk }
                return body
            }
        }
        #expect(try body.get() == all)
    }

    @Test(arguments: Wire.sockets)
    func releasesARejectedBodyBeforeItWaits(_ wire: Wire) async throws {
        let count = Locked(0)
        let server = try LoopbackServer { connection in
            guard try connection.readRequest() != nil else { return }
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            let status = isFirst ? 503 : 200
            try connection.send("HTTP/1.1 \(status) X\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
            try connection.sendChunk("a\n")
            if !isFirst { try connection.sendChunk("") }
            try connection.waitUntilPeerCloses()
        }
        let api = NetworkConnector(
            environment: Place(host: LoopbackServer.host, port: server.port),
            provider: wire.transport.retrying(.halfWay),
            router: Endpoint<ApiPath>.self,
            configuration: ConnectionConfiguration(timeouts: .unlimited, timeSource: clock)
        )
        let reading = Task { () async throws(ApiConnectorError) -> [String] in
            var lines: [String] = []
            for try await line in api.stream(at: Endpoint("/"), as: .lines) { lines.append(line) }
            return lines
        }
        #expect(try await clock.nextSleep() == .milliseconds(250))
        try await server.connectionEnded(0)
        clock.advance(by: .milliseconds(250))
        #expect(try await reading.value == ["a"])
    }

    @Test func leavingTheLoopReleasesTheBody() async throws {
        let feed = BodyFeed()
        let api = connection { _ in .feed(feed) }
        let reading = Task { () async throws(ApiConnectorError) -> String? in
            for try await line in api.stream(at: .me, as: .lines) { return line }
            return nil
        }
        try await feed.send(Data("a\n".utf8))
        #expect(try await reading.value == "a")
        await #expect(throws: (any Error).self) { try await feed.send(Data("b\n".utf8)) }
    }
}
