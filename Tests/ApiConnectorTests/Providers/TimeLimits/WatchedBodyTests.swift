// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// The limits of time while a streamed body is read, over every transport.
struct WatchedBodyTests {
    enum Transport: CaseIterable {
        case system, session, sequence
    }

    private func failure(reading chunks: ResponseBody.AsyncIterator) async throws -> ApiConnectorError {
        var chunks = chunks
        return try #require(await #expect(throws: ApiConnectorError.self) { while try await chunks.next() != nil {} })
    }

    @Test(arguments: Transport.allCases)
    func stallsBetweenChunksOnlyWhileTheReaderWaits(_ transport: Transport) async throws {
        let stream = try GatedStream(over: transport, Timeouts(stall: .seconds(60)), laterChunks: nil)
        var chunks = try await stream.response().body.makeAsyncIterator()
        #expect(try await chunks.next() == Data("chunk 0".utf8))
        #expect(try await stream.clock.nextSleep() == .seconds(60))
        // The reader is slow for ten minutes, and nothing happens.
        stream.clock.advance(by: .seconds(600))
        async let error = failure(reading: chunks)
        #expect(try await stream.clock.nextSleep() == .seconds(60))
        stream.clock.advance(by: .seconds(60))
        #expect(try await error.kind == .stalled)
        #expect(
            try await error.detail
                == "no body byte was sent or received, and no response head arrived, for 60.0 seconds"
        )
        #expect(try await error.request?.url == stream.url.absoluteString)
        if transport != .sequence { try await stream.ended.opened() }
    }

    @Test(arguments: Transport.allCases)
    func doesNotStallWhileChunksArrive(_ transport: Transport) async throws {
        let stream = try GatedStream(over: transport, Timeouts(stall: .seconds(60)), laterChunks: 10)
        var chunks = try await stream.response().body.makeAsyncIterator()
        for number in 0...10 {
            if number > 0 { stream.gates[number - 1].open() }
            #expect(try await chunks.next() == Data("chunk \(number)".utf8))
            stream.clock.advance(by: .seconds(59))
        }
        #expect(try await chunks.next() == nil)
        #expect(stream.clock.now == .seconds(649))
    }

    static let limits: [(Timeouts, ApiConnectorError.Kind)] = [
        (Timeouts(attempt: .seconds(90), stall: Timeouts.noLimit, overall: .seconds(100)), .timedOut),
        (Timeouts(attempt: .seconds(100), stall: Timeouts.noLimit, overall: .seconds(90)), .deadlineExceeded),
    ]

    @Test(arguments: Transport.allCases, limits)
    func timesOutWithTheAttemptAndTheCallWhileTheReaderWaits(
        _ transport: Transport,
        _ limit: (timeouts: Timeouts, kind: ApiConnectorError.Kind)
    ) async throws {
        let stream = try GatedStream(over: transport, limit.timeouts, laterChunks: nil)
        var chunks = try await stream.response().body.makeAsyncIterator()
        #expect(try await chunks.next() == Data("chunk 0".utf8))
        async let error = failure(reading: chunks)
        #expect(try await stream.clock.nextSleep() == .seconds(90))
        stream.clock.advance(by: .seconds(90))
        #expect(try await error.kind == limit.kind)
        if transport != .sequence { try await stream.ended.opened() }
    }

    /// The transfer is released at once, and the next read says why.
    @Test(arguments: [Transport.system, .session], limits)
    func timesOutWithTheAttemptAndTheCallWithoutAReader(
        _ transport: Transport,
        _ limit: (timeouts: Timeouts, kind: ApiConnectorError.Kind)
    ) async throws {
        let stream = try GatedStream(over: transport, limit.timeouts, laterChunks: nil)
        let response = try await stream.response()
        #expect(try await stream.clock.nextSleep() == .seconds(90))
        stream.clock.advance(by: .seconds(90))
        try await stream.ended.opened()
        let error = try await failure(reading: response.body.makeAsyncIterator())
        #expect(error.kind == limit.kind)
        #expect(error.request?.url == stream.url.absoluteString)
    }

    /// A body that was collected or read to its end needs no report.
    @Test func hasNoTimeoutAfterItsEnd() async throws {
        let stream = try GatedStream(over: .system, Timeouts(attempt: .seconds(90)), laterChunks: 0)
        let response = try await stream.response()
        #expect(try await response.body.collect(upTo: 100) == Data("chunk 0".utf8))
        stream.clock.advance(by: .seconds(600))
        var chunks = response.body.makeAsyncIterator()
        let error = await #expect(throws: ApiConnectorError.self) { try await chunks.next() }
        #expect(error?.detail.hasPrefix("the body was already read") == true)
    }
}

/// A streamed response that sends one chunk at once and each of the others when its gate is opened; where there are no
/// others, it never ends.
private struct GatedStream {
    let clock = ManualClock()
    let gates: [Gate]
    /// Opens when the connection was closed; a sequence has no connection.
    let ended = Gate("end of the transfer")
    var url: URL { server.url() }

    private let server: LoopbackServer
    private let transport: WatchedBodyTests.Transport
    private let timeouts: Timeouts
    private let isEndless: Bool

    init(over transport: WatchedBodyTests.Transport, _ timeouts: Timeouts, laterChunks count: Int?) throws {
        let gates = (0..<(count ?? 0)).map { Gate("chunk \($0 + 1)") }
        self.gates = gates
        self.transport = transport
        self.timeouts = timeouts
        isEndless = count == nil
        server = try LoopbackServer { [ended] connection in
            defer { ended.open() }
            _ = try connection.readRequest()
            try connection.send(
                "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
            )
            try connection.sendChunk("chunk 0")
            if count == nil { return try connection.waitUntilPeerCloses() }
            for (index, gate) in gates.enumerated() {
                try connection.wait(for: gate)
                try connection.sendChunk("chunk \(index + 1)")
            }
            try connection.sendChunk("")
        }
    }

    func response() async throws(ApiConnectorError) -> ApiResponse {
        var request = ApiRequest(url: url)
        request.delivery = .streamed
        request.deadline = timeouts.overall
        request.timeSource = clock
        return try await provider.attempt(request, within: timeouts)
    }

    private var provider: AnyProvider {
        switch transport {
        case .system: AnyProvider(SystemProvider())
        case .session: AnyProvider(URLSessionProvider(configuration: .ephemeral))
        case .sequence: AnyProvider(SequenceProvider(gates: isEndless ? [Gate("never")] : gates))
        }
    }
}

/// A user's provider, whose body is a sequence without support for limits.
private struct SequenceProvider: DataRequestType {
    let gates: [Gate]

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        let sent = Locked(0)
        let chunks = AsyncThrowingStream<Data, any Error> {
            let number = sent.withLock { number in
                defer { number += 1 }
                return number
            }
            guard number <= gates.count else { return nil }
            if number > 0 { try await gates[number - 1].opened() }
            return Data("chunk \(number)".utf8)
        }
        return ApiResponse(to: request, status: 200, body: ResponseBody(chunks: chunks))
    }
}
