// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

struct URLSessionStreamTests {
    private func streamed(_ url: URL) -> ApiRequest {
        var request = ApiRequest(url: url)
        request.delivery = .streamed
        return request
    }

    @Test func yieldsTheHeadAndEachChunkWhileTheServerHoldsTheRest() async throws {
        let gate = Gate("second")
        let server = try LoopbackServer { connection in
            _ = try connection.readRequest()
            try connection.send(
                "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
            )
            try connection.sendChunk("one")
            try connection.wait(for: gate)
            try connection.sendChunk("two")
            try connection.sendChunk("")
        }
        let response = try await URLSessionProvider().response(for: streamed(server.url()))
        var chunks = response.body.makeAsyncIterator()
        #expect(try await chunks.next() == Data("one".utf8))
        gate.open()
        #expect(try await chunks.next() == Data("two".utf8))
        #expect(try await chunks.next() == nil)
    }

    // The limits of Linux's URLSession.
    #if canImport(FoundationNetworking)
    @Test func failsPastItsWindowAndNamesTheFix() async throws {
        let server = try LoopbackServer { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\n\r\n")
            // More than the window and the two kernels' buffers hold, and no end.
            for _ in 0..<32 { try connection.send(Data(count: 1 << 20)) }
            try connection.waitUntilPeerCloses()
        }
        let response = try await URLSessionProvider().response(for: streamed(server.url()))
        // The connection is closed because there is no reader.
        try await server.connectionEnded(0)
        var received = 0
        let error = await #expect(throws: ApiConnectorError.self) {
            for try await chunk in response.body { received += chunk.count }
        }
        #expect(error?.kind == .bodyTooLarge)
        #expect(error?.detail.hasSuffix("read it faster, or use SystemProvider on Linux, which has") == true)
        #expect(received <= 16 << 20)
    }
    #endif

    @Test func closesTheConnectionWhenTheBodyIsReleased() async throws {
        let server = try LoopbackServer { connection in
            _ = try connection.readRequest()
            try connection.send(
                "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 100\r\n\r\nabc"
            )
            try connection.waitUntilPeerCloses()
        }
        do {
            let response = try await URLSessionProvider().response(for: streamed(server.url()))
            for try await _ in response.body { break }
        }
        try await server.connectionEnded(0)
    }

    @Test func sendsASourceFromMemory() async throws {
        let server = try LoopbackServer.responding { _ in .status(204) }
        let body = RequestBody.stream {
            AsyncStream { continuation in
                for text in ["ab", "cd"] { continuation.yield(Data(text.utf8)) }
                continuation.finish()
            }
        }
        _ = try await URLSessionProvider().response(for: ApiRequest(url: server.url(), method: .put, body: body))
        #expect(try await server.request(0).body == Data("abcd".utf8))
    }

    // The limits of Linux's URLSession.
    #if canImport(FoundationNetworking)
    @Test func refusesASourceThatIsTooLongForMemory() async throws {
        let body = RequestBody.stream {
            AsyncStream { continuation in
                for _ in 0..<17 { continuation.yield(Data(count: 1 << 20)) }
                continuation.finish()
            }
        }
        let url = try #require(URL(string: "http://localhost:1/"))
        let error = await #expect(throws: ApiConnectorError.self) {
            try await URLSessionProvider().response(for: ApiRequest(url: url, method: .put, body: body))
        }
        #expect(error?.kind == .bodyTooLarge)
    }
    #endif
}
