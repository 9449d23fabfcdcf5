// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@_spi(Benchmarks) @testable import ApiConnector

/// The times that CurlProvider measures.
struct CurlTimesTests {
    private let provider = CurlProvider(configuration: .patient)

    @Test func aNewConnectionHasItsPhasesAndTheNextCallReusesIt() async throws {
        let server = try LoopbackServer.responding { _ in .text("tea") }
        let first = try #require(try await provider.response(for: ApiRequest(url: server.url())).times)
        let phases: [TransportTimes.Phase] = [
            .waiting, .nameLookup, .connecting, .sending, .responseWait, .receiving,
        ]
        #expect(phases.filter { first[$0] == nil } == [])
        #expect(first[.tlsHandshake] == nil)
        #expect(first.isConnectionReused == false)
        #expect(first.httpVersion == "1.1")
        #expect(first.tlsVersion == nil)
        #expect(first.remoteAddress == "127.0.0.1")
        #expect(first.remotePort == server.port)
        #expect(first.requestBodyByteCount == 0)
        #expect(first.responseBodyByteCount == 3)
        #expect(first.decodedBodyByteCount == 3)
        #expect((first.responseHeadByteCount ?? 0) > 15)

        let second = try #require(try await provider.response(for: ApiRequest(url: server.url())).times)
        #expect(second.isConnectionReused == true)
        #expect(second[.nameLookup] == nil)
        #expect(second[.connecting] == nil)
        #expect(second[.waiting] != nil)
        #expect(second[.responseWait] != nil)
        #expect(server.connectionCount == 1)
    }

    @Test func aProviderThatDoesNotMeasureReturnsNoTimes() async throws {
        var configuration = CurlConfiguration.patient
        configuration.measuresTimes = false
        let provider = CurlProvider(configuration: configuration)
        let server = try LoopbackServer.responding { _ in .text("tea") }
        for delivery in [ResponseDelivery.collected(upTo: 10), .streamed] {
            let response = try await provider.response(for: ApiRequest(url: server.url(), delivery: delivery))
            #expect(try await response.body.collect(upTo: 10) == Data("tea".utf8))
            #expect(response.times == nil)
        }
        let closing = try LoopbackServer { _ = try $0.readRequest() }
        let error = try await failure { () throws(ApiConnectorError) in
            try await provider.response(for: ApiRequest(url: closing.url(), method: .post))
        }
        #expect(error.kind == .connectionLost)
        #expect(error.times == nil)
    }

    /// The request is sent before the server has read it, and the first byte comes after the server has sent it.
    @Test func theWaitForTheResponseIsAtLeastTheServers() async throws {
        let wait = Locked<Int64>(0)
        let server = try LoopbackServer { connection in
            _ = try connection.readRequest()
            let start = MonotonicTime.nanoseconds
            let response = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
            wait.withLock { $0 = MonotonicTime.nanoseconds - start }
            try connection.send(response)
        }
        let request = ApiRequest(url: server.url(), method: .post, body: .text("green"))
        let times = try #require(try await provider.response(for: request).times)
        #expect((times[.responseWait] ?? .zero) >= .nanoseconds(wait.withLock { $0 }))
        #expect(times.requestBodyByteCount == 5)
    }

    @Test func aStreamIsMeasuredUntilItsEnd() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 10\r\n\r\n"
        let rest = Gate("rest")
        let server = try LoopbackServer { connection in
            _ = try connection.readRequest()
            try connection.send(head + "hello")
            try connection.wait(for: rest)
            try connection.send("world")
        }
        let recorder = EventRecorder()
        let request = ApiRequest(url: server.url(), delivery: .streamed)
        let response = try await provider.observing(by: recorder).response(for: request)
        #expect(response.times?[.responseWait] != nil)
        #expect((response.times?.responseBodyByteCount ?? 10) < 10)
        rest.open()
        #expect(try await response.body.collect(upTo: 100).count == 10)
        // The time is zero if libcurl has read the head and the end in one turn of the loop.
        #expect(response.times?[.receiving] != nil)
        #expect(response.times?.responseBodyByteCount == 10)
        let totals = recorder.events.compactMap { event -> TransportTimes? in
            if case .finished(let totals) = event.kind { totals.times } else { nil }
        }
        #expect(totals == [response.times])
    }

    @Test(arguments: [ResponseDelivery.standard, .streamed])
    func bytesAreCountedBeforeAndAfterDecompression(_ delivery: ResponseDelivery) async throws {
        let page = Data(String(repeating: "tea ", count: 1_000).utf8)
        let coded = try #require(Gzip.compressed(page))
        let server = try LoopbackServer.responding { _ in
            LoopbackResponse(
                headers: [("Content-Type", "text/plain"), ("Content-Encoding", "gzip")].map {
                    (name: $0.0, value: $0.1)
                },
                body: coded
            )
        }
        let response = try await provider.response(for: ApiRequest(url: server.url(), delivery: delivery))
        #expect(try await response.body.collect(upTo: 10_000) == page)
        #expect(response.times?.responseBodyByteCount == Int64(coded.count))
        #expect(response.times?.decodedBodyByteCount == 4_000)
    }

    @Test func tlsHasItsHandshakeAndVersion() async throws {
        let certificates = try TLSCertificates()
        let server = try TLSServer(certificates, "server")
        var configuration = CurlConfiguration.patient
        configuration.certificateAuthorityFile = certificates.authority
        let provider = CurlProvider(configuration: configuration)
        let times = try #require(try await provider.response(for: ApiRequest(url: server.url)).times)
        #expect(times[.tlsHandshake] != nil)
        #expect(times.tlsVersion == "1.3")
    }

    @Test func aConnectionThatIsRefusedHasItsTimesInTheError() async throws {
        let port = try RefusingPort()
        defer { withExtendedLifetime(port) {} }
        let url = try #require(URL(string: "http://127.0.0.1:\(port.number)/"))
        let error = try await failure { () throws(ApiConnectorError) in
            try await provider.response(for: ApiRequest(url: url))
        }
        #expect(error.kind == .cannotConnect)
        #expect(error.times?[.connecting] != nil)
        #expect(error.times?[.sending] == nil)
    }

    /// The caller is answered before libcurl is; so the times are the library's own.
    @Test func aCallThatIsStoppedHasTheTimesUntilThen() async throws {
        let arrived = Gate("arrived")
        let server = try LoopbackServer { connection in
            _ = try connection.readRequest()
            arrived.open()
            try connection.waitUntilPeerCloses()
        }
        let call = Task { [provider] in try await provider.response(for: ApiRequest(url: server.url())) }
        try await arrived.opened()
        call.cancel()
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == .cancelled)
        #expect(error?.times?[.responseWait] != nil)
        #expect(error?.times?[.receiving] == nil)
    }

    /// A server with one connection at a time, a provider with one connection, and a first call that has it.
    private struct BusyConnection {
        let provider: CurlProvider
        let first: Task<ApiResponse, any Error>
        private let url: URL
        private let server: LoopbackServer
        private let release = Gate("release")

        init() async throws {
            let arrived = Gate("arrived")
            server = try LoopbackServer { [release] connection in
                _ = try connection.readRequest()
                arrived.open()
                try connection.wait(for: release)
                repeat {
                    try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                } while try connection.readRequest() != nil
            }
            url = server.url()
            var configuration = CurlConfiguration()
            configuration.maximumConnectionCount = 1
            provider = CurlProvider(configuration: configuration)
            first = Task { [provider, url] in try await provider.response(for: ApiRequest(url: url)) }
            try await arrived.opened()
        }

        /// Starts a second call, which waits for the connection.
        func second() async throws -> Task<ApiResponse, any Error> {
            let second = Task { [provider, url] in
                try await provider.response(for: ApiRequest(url: url, method: .put))
            }
            try await provider.isAwaited(by: 1)
            return second
        }

        func free() {
            release.open()
        }
    }

    @Test func theWaitForAConnectionIsAtLeastTheTimeThatItWasBusy() async throws {
        let connection = try await BusyConnection()
        let second = try await connection.second()
        let start = MonotonicTime.nanoseconds
        let busy = busyWait(from: start, for: 2_000_000)
        connection.free()
        #expect(try await connection.first.value.times?.isConnectionReused == false)
        let times = try #require(try await second.value.times)
        #expect(times.isConnectionReused == true)
        #expect((times[.waiting] ?? .zero) >= .nanoseconds(busy))
        #expect(times[.connecting] == nil)
    }

    @Test func aCallThatIsStoppedWhileItWaitsForAConnectionHasOnlyThatPhase() async throws {
        let connection = try await BusyConnection()
        let second = try await connection.second()
        second.cancel()
        let error = await #expect(throws: ApiConnectorError.self) { try await second.value }
        let times = try #require(error?.times)
        #expect(TransportTimes.Phase.allCases.filter { times[$0] != nil } == [.waiting])
        #expect(times.sentence(from: .zero)?.hasPrefix("Waiting for a connection or a limit took ") == true)
        connection.free()
        _ = try await connection.first.value
    }

    // MARK: - The longest phase

    /// Lets time pass, and returns how much.
    ///
    /// The clock is the one that the times are measured with.
    private func busyWait(from start: Int64, for duration: Int64) -> Int64 {
        while MonotonicTime.nanoseconds - start < duration {}
        return MonotonicTime.nanoseconds - start
    }

    /// A call is stopped when the phase after `arrived` has lasted longer than everything before it.
    private func errorOfCall(to url: URL, stoppedAfter arrived: Gate) async throws -> ApiConnectorError {
        let start = MonotonicTime.nanoseconds
        let call = Task { [provider] in try await provider.response(for: ApiRequest(url: url)) }
        try await arrived.opened()
        let now = MonotonicTime.nanoseconds
        _ = busyWait(from: now, for: (now - start) + 1_000_000)
        call.cancel()
        return try #require(await #expect(throws: ApiConnectorError.self) { try await call.value })
    }

    @Test func aServerThatNeverRespondsIsNamedInTheText() async throws {
        let arrived = Gate("arrived")
        let server = try LoopbackServer { connection in
            _ = try connection.readRequest()
            arrived.open()
            try connection.waitUntilPeerCloses()
        }
        let error = try await errorOfCall(to: server.url(), stoppedAfter: arrived)
        #expect(error.times?.longestPhase == .responseWait)
        #expect(error.times?.sentence(from: .zero)?.hasPrefix("Waiting for the response took ") == true)
    }

    @Test func aHandshakeThatStallsIsNamedInTheText() async throws {
        let arrived = Gate("arrived")
        let server = try LoopbackServer { connection in
            _ = try connection.read(1)
            arrived.open()
            try connection.waitUntilPeerCloses()
        }
        let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
        let error = try await errorOfCall(to: url, stoppedAfter: arrived)
        #expect(error.times?.longestPhase == .tlsHandshake)
        #expect(error.times?.sentence(from: .zero)?.hasPrefix("The TLS handshake took ") == true)
    }

    /// How long the lookup takes depends on the machine's name server.
    @Test func aNameWithoutAnAddressHasNoPhaseAfterTheLookup() async throws {
        let url = try #require(URL(string: "http://nowhere.invalid/"))
        let error = try await failure { () throws(ApiConnectorError) in
            try await provider.response(for: ApiRequest(url: url))
        }
        #expect(error.kind == .nameNotResolved)
        let times = try #require(error.times)
        #expect(TransportTimes.Phase.allCases.filter { times[$0] != nil } == [.waiting, .nameLookup])
    }
}
#endif
