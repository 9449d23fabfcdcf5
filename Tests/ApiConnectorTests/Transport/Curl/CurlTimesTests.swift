// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTesting
import Testing

@_spi(Benchmarks) @testable import ApiConnector

/// The times that CurlProvider measures.
@Suite struct CurlTimesTests {
    private let provider = CurlProvider(configuration: CurlConfiguration())

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
        var configuration = CurlConfiguration()
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
        var configuration = CurlConfiguration()
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

    @Test func aCallThatWaitsForAConnectionHasOnlyThatPhase() async throws {
        let arrived = Gate("arrived")
        let server = try LoopbackServer { connection in
            _ = try connection.readRequest()
            arrived.open()
            try connection.waitUntilPeerCloses()
        }
        var configuration = CurlConfiguration()
        configuration.maximumConnectionCount = 1
        let provider = CurlProvider(configuration: configuration)
        let first = Task { try await provider.response(for: ApiRequest(url: server.url())) }
        try await arrived.opened()
        let second = Task { try await provider.response(for: ApiRequest(url: server.url())) }
        second.cancel()
        let error = await #expect(throws: ApiConnectorError.self) { try await second.value }
        first.cancel()
        let phases = TransportTimes.Phase.allCases.filter { error?.times?[$0] != nil }
        #expect(phases == [.waiting] || error?.times == nil)
        _ = try? await first.value
    }
}
#endif
