// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorConformance
import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

struct CurlStreamTests {
    private func streamed(_ url: URL) -> ApiRequest {
        var request = ApiRequest(url: url)
        request.delivery = .streamed
        return request
    }

    private static func text(_ data: Data?) -> String? {
        data.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func yieldsEachChunkWhileTheServerHoldsTheRest() async throws {
        let gates = [Gate("first"), Gate("second")]
        let server = try LoopbackServer { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n")
            try connection.wait(for: gates[0])
            try connection.sendChunk("one")
            try connection.wait(for: gates[1])
            try connection.send("3\r\ntwo\r\n0\r\nX: trailer\r\n\r\n")
        }
        let response = try await CurlProvider().response(for: streamed(server.url()))
        #expect(response.status == 200)
        var chunks = response.body.makeAsyncIterator()
        gates[0].open()
        #expect(Self.text(try await chunks.next()) == "one")
        gates[1].open()
        #expect(Self.text(try await chunks.next()) == "two")
        #expect(try await chunks.next() == nil)
        #expect(try await chunks.next() == nil)
        #expect(response.headers.map(\.name.rawValue) == ["Transfer-Encoding", "Trailer"])
    }

    @Test func neverReadsAheadOfItsConsumerByMoreThanTheWindow() async throws {
        let sent = Locked(0)
        let byteCount = 64 << 20
        let server = try LoopbackServer { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(byteCount)\r\n\r\n")
            let piece = Data.counting(by: 31, byteCount: 65_536)
            for _ in 0..<(byteCount / piece.count) {
                try connection.send(piece)
                sent.withLock { $0 += piece.count }
            }
        }
        var configuration = CurlConfiguration.patient
        configuration.streamWindowByteCount = 256 * 1024
        let provider = CurlProvider(configuration: configuration)
        let response = try await provider.response(for: streamed(server.url()))
        // Others on the same provider go on.
        let other = try LoopbackServer.responding { _ in .text("ok") }
        for _ in 0..<50 { _ = try await provider.response(for: ApiRequest(url: other.url())) }
        // The window and what the two kernels' buffers take, which is some megabytes at the most.
        #expect(sent.withLock { $0 } < 32 << 20)

        var received = 0
        var isIntact = true
        for try await chunk in response.body {
            for offset in stride(from: 0, to: chunk.count, by: 4099) {
                let position = (received + offset) % 65_536
                if chunk[chunk.startIndex + offset] != UInt8(truncatingIfNeeded: position &* 31) { isIntact = false }
            }
            received += chunk.count
        }
        #expect(received == byteCount)
        #expect(isIntact)
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc", ApiConnectorError.Kind.connectionLost),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", .connectionLost),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n", .malformedResponse),
    ])
    func failsAfterTheChunksOfABrokenBody(_ text: String, _ kind: ApiConnectorError.Kind) async throws {
        let server = try LoopbackServer { connection in
            _ = try connection.readRequest()
            try connection.send(text)
        }
        let response = try await CurlProvider().response(for: streamed(server.url()))
        var received = Data()
        let error = await #expect(throws: ApiConnectorError.self) {
            for try await chunk in response.body { received += chunk }
        }
        #expect(error?.kind == kind)
        #expect(Self.text(received) == "abc")
    }

    @Test func closesTheConnectionWhenTheBodyIsReleased() async throws {
        let server = try LoopbackServer { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
            try connection.waitUntilPeerCloses()
        }
        do {
            let response = try await CurlProvider().response(for: streamed(server.url()))
            for try await chunk in response.body {
                #expect(Self.text(chunk) == "abc")
                break
            }
        }
        try await server.connectionEnded(0)
    }

    @Test func answersAReaderThatIsCanceledAtOnce() async throws {
        let server = try LoopbackServer { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
            try connection.waitUntilPeerCloses()
        }
        let response = try await CurlProvider().response(for: streamed(server.url()))
        let reader = Task { try await response.body.collect(upTo: 100) }
        reader.cancel()
        let error = await #expect(throws: ApiConnectorError.self) { try await reader.value }
        #expect(error?.kind == .cancelled)
        try await server.connectionEnded(0)
    }

    @Test func failsRunningRequestsWhenTheProviderIsReleased() async throws {
        let server = try LoopbackServer { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
            try connection.waitUntilPeerCloses()
        }
        var provider: CurlProvider? = CurlProvider(configuration: .patient)
        let response = try #require(try await provider?.response(for: streamed(server.url())))
        provider = nil
        let error = await #expect(throws: ApiConnectorError.self) { try await response.body.collect(upTo: 100) }
        #expect(error?.kind == .cancelled)
        #expect(
            error?.detail
                == "the provider was released during the request; keep a reference to it until the body is read"
        )
        try await server.connectionEnded(0)
    }

    @Test func collectsAStreamedBodyUpToALimit() async throws {
        let server = try LoopbackServer.responding { _ in .text("0123456789") }
        let provider = CurlProvider()
        let short = try await provider.response(for: streamed(server.url()))
        #expect(Self.text(try await short.body.collect(upTo: 10)) == "0123456789")
        let long = try await provider.response(for: streamed(server.url()))
        let error = await #expect(throws: ApiConnectorError.self) { try await long.body.collect(upTo: 9) }
        #expect(error?.kind == .bodyTooLarge)
    }
}
#endif
