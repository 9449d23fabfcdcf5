// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// A call that ends early in any phase, while another call of the same provider continues.
///
/// Looking up a name is the phase that is missing: it takes a getaddrinfo that hangs, and is in IntegrationTests.
struct CurlPhaseTests {
    enum Phase: CaseIterable {
        case connecting, handshake, sending, pausedSource, waiting, receiving
    }

    enum Way: CaseIterable {
        case cancel, attempt, deadline, stall

        fileprivate var kind: ApiConnectorError.Kind {
            switch self {
            case .cancel: .cancelled
            case .attempt: .timedOut
            case .deadline: .deadlineExceeded
            case .stall: .stalled
            }
        }

        fileprivate var timeouts: Timeouts {
            switch self {
            case .cancel: .unlimited
            case .attempt: Timeouts(attempt: .seconds(60), stall: Timeouts.noLimit)
            case .deadline: Timeouts(stall: Timeouts.noLimit, overall: .seconds(60))
            case .stall: Timeouts(stall: .seconds(60))
            }
        }
    }

    @Test(arguments: Phase.allCases, Way.allCases)
    func endsAtOnce(in phase: Phase, by way: Way) async throws {
        let arrived = Gate("\(phase)")
        let server = try LoopbackServer { connection in
            switch phase {
            case .connecting, .handshake: arrived.open()
            case .sending, .pausedSource:
                _ = try connection.readHead()
                try connection.send("HTTP/1.1 100 Continue\r\n\r\n")
                arrived.open()
                if phase == .sending { try connection.wait(for: Gate("never opens")) }
            case .waiting:
                _ = try connection.readRequest()
                arrived.open()
            case .receiving:
                _ = try connection.readRequest()
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhello")
                arrived.open()
            }
            try connection.waitUntilPeerCloses()
        }
        let backlog = try FullBacklog()
        let (silence, source) = AsyncStream.makeStream(of: Data.self)
        var request = ApiRequest(url: server.url(), method: .put)
        switch phase {
        case .connecting:
            request.url = backlog.url
            arrived.open()
        case .handshake: request.url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
        case .sending: request.body = .data(Data(count: 64 << 20))
        case .pausedSource:
            source.yield(Data("the beginning".utf8))
            request.body = .stream { silence }
        case .waiting, .receiving: break
        }
        let scene = Scene(way)
        let call = Task { [request] in try await scene.response(for: request) }
        try await arrived.opened()
        let mover = try await scene.end(call)
        defer { mover?.cancel() }
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == way.kind)
        try await scene.callBeside()
        source.finish()
    }

    /// A streamed body with a full window and no reader; it cannot stall then.
    @Test(arguments: [Way.cancel, .attempt, .deadline])
    func endsAPausedBodyAtOnce(by way: Way) async throws {
        let isFull = Gate("window")
        let server = try LoopbackServer { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100000000000\r\n\r\n")
            for _ in 0..<4 { try connection.send(Data(count: 64 << 10)) }
            isFull.open()
            while true { try connection.send(Data(count: 64 << 10)) }
        }
        var request = ApiRequest(url: server.url())
        request.delivery = .streamed
        let scene = Scene(way)
        let (taken, takes) = AsyncStream.makeStream(of: Void.self)
        let call = Task { [request] in
            let response = try await scene.response(for: request)
            for await _ in taken {}
            for try await _ in response.body { return }
        }
        try await isFull.opened()
        let mover = try await scene.end(call)
        defer { mover?.cancel() }
        if way == .cancel {
            // The reader gives up without a read, and the body goes with it.
            await #expect(throws: ApiConnectorError.self) { try await call.value }
        }
        try await server.connectionEnded(0)
        takes.finish()
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == way.kind)
        try await scene.callBeside()
    }
}

/// A provider, a server beside the one under test, and a clock to be moved.
private struct Scene: Sendable {
    private let way: CurlPhaseTests.Way
    private let clock = ManualClock()
    private let other: LoopbackServer?
    private let provider: CurlProvider

    init(_ way: CurlPhaseTests.Way) {
        self.way = way
        other = try? LoopbackServer.responding { _ in .text("ok") }
        var configuration = CurlConfiguration.patient
        configuration.streamWindowByteCount = 64 << 10
        provider = CurlProvider(configuration: configuration)
    }

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        var request = request
        request.deadline = way.timeouts.overall
        request.timeSource = clock
        return try await provider.attempt(request, within: way.timeouts)
    }

    /// Another call on the same provider.
    func callBeside() async throws {
        let url = try #require(other?.url())
        #expect(try await provider.response(for: ApiRequest(url: url)).status == 200)
    }

    /// Ends a call that the provider is at, in the way of this scene.
    ///
    /// - Returns: A task that advances the time again and again, until it is canceled, for bytes that still go into the
    ///   kernel's buffers are no silence.
    func end(_ call: Task<some Sendable, any Error>) async throws -> Task<Void, any Error>? {
        // By the time this has its answer, the loop has taken up the call before it.
        try await callBeside()
        guard way == .cancel else {
            return Task { while true { clock.advance(by: try await clock.nextSleep(within: .seconds(Int64.max))) } }
        }
        call.cancel()
        return nil
    }
}
#endif
