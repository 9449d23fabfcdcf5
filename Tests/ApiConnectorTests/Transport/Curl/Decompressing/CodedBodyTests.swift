// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// Coded bodies over sockets: requested codings, refused codings, and calls that must not wait for another call's body.
struct CodedBodyTests {
    private func provider(
        _ decompression: CurlConfiguration.Decompression = .standard,
        _ libraries: DecodingLibraries = .system
    ) -> CurlProvider {
        var configuration = CurlConfiguration.patient
        configuration.decompression = decompression
        return CurlProvider(configuration: configuration, libraries: libraries)
    }

    private static let healthy = LoopbackResponse(headers: [("Connection", "close")], body: Data("ok".utf8))

    @Test func sendsAcceptEncodingForItsDecoders() async throws {
        let server = try LoopbackServer.responding { _ in .text("ok") }
        var without: [DecodingLibraries] = [.system, .system, .system, DecodingLibraries()]
        without[0].zlib = nil
        without[1].brotli = nil
        without[2].zstandard = nil
        for libraries in [.system] + without {
            _ = try await provider(.standard, libraries).response(for: ApiRequest(url: server.url()))
        }
        _ = try await provider(.off).response(for: ApiRequest(url: server.url()))
        #expect(
            server.requests.map { $0.header("Accept-Encoding") }
                == ["gzip, deflate, br, zstd", "br, zstd", "gzip, deflate, zstd", "gzip, deflate, br", nil, nil]
        )
    }

    @Test func keepsTheCallersAcceptEncoding() async throws {
        let server = try TruncatedBodyTests.server(CodedFixture.brotli.whole, coding: "br")
        var request = ApiRequest(url: server.url())
        request.headers[.acceptEncoding] = "br;q=0.5"
        let provider = provider()
        #expect(try await provider.response(for: request).body.collected == CodedFixture.text)
        request.headers[.acceptEncoding] = nil
        request.headers[.range] = "bytes=0-"
        _ = try await provider.response(for: request)
        #expect(server.requests.map { $0.header("Accept-Encoding") } == ["br;q=0.5", "identity"])
    }

    @Test(arguments: CodedFixture.all) func deliversAnUncodedBodyUnchanged(_ fixture: CodedFixture) async throws {
        let server = try TruncatedBodyTests.server(fixture.whole, coding: "\(fixture.coding), gzip")
        let provider = provider(.off)
        for delivery in [ResponseDelivery.standard, .streamed] {
            let request = ApiRequest(url: server.url(), delivery: delivery)
            let body = try await provider.response(for: request).body.collect(upTo: 1 << 20)
            #expect(body == fixture.whole)
        }
        withExtendedLifetime(provider) {}
    }

    @Test(arguments: CodedFixture.all) func refusesABombAlsoInAStream(_ fixture: CodedFixture) async throws {
        let server = try TruncatedBodyTests.server(fixture.bomb, coding: fixture.coding)
        // A provider that ends cancels the stream that it has begun.
        let provider = provider()
        defer { withExtendedLifetime(provider) {} }
        for delivery in [ResponseDelivery.standard, .streamed] {
            let request = ApiRequest(url: server.url(), delivery: delivery)
            let error = await #expect(throws: ApiConnectorError.self) {
                try await provider.response(for: request).body.collect(upTo: 16 << 20)
            }
            #expect(error?.kind == .bodyTooLarge)
            #expect(error?.detail == "the body expands to more than 100 times its compressed size")
            #expect(error?.request != nil)
        }
    }

    /// The limit of a collected body is about what is decoded.
    @Test(arguments: CodedFixture.all) func limitsWhatIsCollected(_ fixture: CodedFixture) async throws {
        let server = try TruncatedBodyTests.server(fixture.whole, coding: fixture.coding)
        let count = CodedFixture.text.count
        let whole = ApiRequest(url: server.url(), delivery: .collected(upTo: count))
        #expect(try await provider().response(for: whole).body.collected == CodedFixture.text)
        let short = ApiRequest(url: server.url(), delivery: .collected(upTo: count - 1))
        let error = await #expect(throws: ApiConnectorError.self) { try await provider().response(for: short) }
        #expect(error?.kind == .bodyTooLarge)
        #expect(error?.detail == "the body is longer than the limit of \(count - 1) bytes")
    }

    /// `identity` means that the body is not coded, so its length needs no tolerance.
    @Test func limitsABodyWithoutACodingExactly() async throws {
        let body = Data(repeating: 7, count: 100)
        let server = try TruncatedBodyTests.server(body, coding: "identity")
        let provider = provider()
        let request = ApiRequest(url: server.url(), delivery: .collected(upTo: 100))
        #expect(try await provider.response(for: request).body.collected == body)
        let limited = ApiRequest(url: server.url(), delivery: .collected(upTo: 99))
        let error = await #expect(throws: ApiConnectorError.self) { _ = try await provider.response(for: limited) }
        #expect(error?.kind == .bodyTooLarge)
    }

    @Test(arguments: [204, 304, 200], [HTTPMethod.get, .head])
    func acceptsAMissingBodyWithAContentCoding(_ status: Int, _ method: HTTPMethod) async throws {
        for coding in ["gzip", "unknown"] {
            let server = try LoopbackServer.responding { _ in
                LoopbackResponse(status: status, headers: [("Content-Encoding", coding)])
            }
            for delivery in [ResponseDelivery.standard, .streamed] {
                let request = ApiRequest(url: server.url(), method: method, delivery: delivery)
                let provider = provider()
                #expect(try await provider.response(for: request).body.collect(upTo: 1).isEmpty)
                withExtendedLifetime(provider) {}
            }
        }
    }

    /// Nothing of the body has to come for that, and a healthy call beside it is answered.
    @Test(arguments: ["gzip, gzip, gzip, gzip", "gzip\r\nContent-Encoding: gzip", "br,\r\n gzip"])
    func refusesNestedCodingsInTheHead(_ codings: String) async throws {
        let server = try LoopbackServer { connection in
            guard let request = try connection.readRequest() else { return }
            if request.target == "/healthy" { return try connection.send(Self.healthy, answering: request) }
            try connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: \(codings)\r\nContent-Length: 6896\r\n\r\n")
            try connection.waitUntilPeerCloses()
        }
        let provider = provider()
        for delivery in [ResponseDelivery.standard, .streamed] {
            let error = await #expect(throws: ApiConnectorError.self) {
                try await provider.response(for: ApiRequest(url: server.url(), delivery: delivery))
            }
            #expect(error?.kind == .malformedResponse)
            #expect(error?.detail.contains("content codings") == true)
            let healthy = try await provider.response(for: ApiRequest(url: server.url("/healthy")))
            #expect(healthy.body.collected == Data("ok".utf8))
        }
    }

    /// Endless work without output ends with the call, and holds no other call up.
    @Test(arguments: [false, true]) func endsTheWorkWithTheCall(_ isByDeadline: Bool) async throws {
        let isBusy = Gate("hostile body")
        let server = try LoopbackServer { connection in
            guard let request = try connection.readRequest() else { return }
            if request.target == "/healthy" { return try connection.send(Self.healthy, answering: request) }
            try connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\n")
            let blocks = HostileBody.emptyBlocks(byteCount: 1 << 20)
            // The buffers before the decoder hold less than this, so the decoder has started on the earlier bytes.
            for _ in 0..<16 { try connection.send(blocks) }
            isBusy.open()
            while true { try connection.send(blocks) }
        }
        let (provider, clock) = (provider(), ManualClock())
        let call = Task {
            var request = ApiRequest(url: server.url("/hostile"), delivery: .streamed)
            request.timeSource = clock
            request.deadline = isByDeadline ? .seconds(60) : nil
            let timeouts = Timeouts(stall: Timeouts.noLimit, overall: request.deadline)
            let response = try await provider.attempt(request, within: timeouts)
            for try await _ in response.body { Issue.record("there is nothing in it") }
        }
        try await isBusy.opened()
        let healthy = try await provider.response(for: ApiRequest(url: server.url("/healthy")))
        #expect(healthy.body.collected == Data("ok".utf8))
        if isByDeadline { clock.advance(by: .seconds(61)) } else { call.cancel() }
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == (isByDeadline ? .deadlineExceeded : .cancelled))
        // The server writes on until the transfer is gone.
        try await server.connectionEnded(0)
    }

    /// The same for a body that has arrived as a whole: the slice after the one that was under way is not decoded.
    @Test func stopsBetweenTwoSlices() async throws {
        let decompression = try #require(BodyDecompression(.standard, .system))
        let url = try #require(URL(string: "http://a.test/"))
        let blocks = HostileBody.emptyBlocks(byteCount: 1 << 20)
        let body = DecodedBody(blocks + HostileBody.lastBlock, .deflate, decompression, to: ApiRequest(url: url))
        body.stop(ApiConnectorError(.deadlineExceeded, "the call did not finish before its deadline"))
        let error = await #expect(throws: ApiConnectorError.self) { try await body.next() }
        #expect(error?.kind == .deadlineExceeded)
        let again = await #expect(throws: ApiConnectorError.self) { try await body.next() }
        #expect(again?.kind == .deadlineExceeded)
    }
}
#endif
