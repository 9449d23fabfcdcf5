// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

struct SmugglingTests {
    /// A proxy that uses the length reads the end of the chunks, and the bytes after them, as the next response.
    @Test func closesAConnectionWithAnAmbiguousBodyLength() async throws {
        let server = try LoopbackServer { connection in
            while let request = try connection.readRequest() {
                guard request.target == "/first" else {
                    try connection.send(.text("second"), answering: request)
                    continue
                }
                try connection.send(
                    "HTTP/1.1 200 OK\r\nContent-Length: 40\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n0\r\n\r\n"
                )
            }
        }
        let provider = CurlProvider(configuration: .patient)
        for target in ["/first", "/second"] {
            let response = try await provider.response(for: ApiRequest(url: server.url(target)))
            #expect(String(decoding: try await response.body.collect(upTo: 100), as: UTF8.self) == target.dropFirst())
        }
        #expect(server.connectionCount == 2)
    }

    /// 64 MiB of trailers would stay in libcurl's list, many times their size.
    @Test func keepsNothingOfARefusedResponse() async throws {
        let piece = String(repeating: "X: y\r\n", count: 10_000)
        let sent = Locked(0)
        let server = try LoopbackServer { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n")
            while sent.withLock({ $0 }) < 64 << 20 {
                try connection.send(piece)
                sent.withLock { $0 += piece.utf8.count }
            }
        }
        let provider = CurlProvider(configuration: .patient)
        let error = await #expect(throws: ApiConnectorError.self) {
            _ = try await provider.response(for: ApiRequest(url: server.url()))
        }
        #expect(error?.kind == .malformedResponse)
        #expect(
            error?.detail
                == "the heads and trailers of the response have more than 5000 fields, which is also libcurl's limit"
        )
        try await server.connectionEnded(0)
        // The rest of what was sent is in the two kernels' buffers.
        #expect(sent.withLock { $0 } < 32 << 20)
    }
}
#endif
