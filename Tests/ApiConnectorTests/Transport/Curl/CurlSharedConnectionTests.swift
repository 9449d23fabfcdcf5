// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// Responses of one HTTP/2 connection that libcurl reads for each other.
@Suite(.needsHTTP2, .timeLimit(.minutes(10))) struct CurlSharedConnectionTests {
    private let provider: CurlProvider

    init() {
        var configuration = CurlConfiguration.patient
        configuration.httpVersion = .http2PriorKnowledge
        provider = CurlProvider(configuration: configuration)
    }

    /// A whole response, with frames of this size.
    private static func response(_ stream: UInt32, byteCount: Int, frameByteCount: Int) -> Data {
        var bytes = HTTP2Frame(type: 1, flags: 4, stream: stream, payload: [0x88]).bytes
        for start in stride(from: 0, to: byteCount, by: frameByteCount) {
            let count = min(frameByteCount, byteCount - start)
            let isLast = start + count == byteCount
            let payload = [UInt8](repeating: 7, count: count)
            bytes += HTTP2Frame(type: 0, flags: isLast ? 1 : 0, stream: stream, payload: payload).bytes
        }
        return bytes
    }

    /// The end of a body may be in libcurl when no more data arrives.
    ///
    /// Some versions of libcurl lose it.
    @Test(arguments: [1, 8192, 16_384, 16_385, 24_576, 32_768, 49_152, 98_304], [1000, 8192, 16_384])
    func aResponseEndsBesideARequestThatWaits(byteCount: Int, frameByteCount: Int) async throws {
        let isWaiting = Gate("second request")
        let server = try LoopbackServer { connection in
            #expect(connection.index == 0)
            try connection.serveHTTP2 { stream in
                guard stream != 3 else { return isWaiting.open() }
                try connection.send(Self.response(stream, byteCount: byteCount, frameByteCount: frameByteCount))
            }
        }
        let (url, provider) = (server.url(), provider)
        _ = try await provider.response(for: ApiRequest(url: url))
        let waiting = Task { try await provider.response(for: ApiRequest(url: url)) }
        try await isWaiting.opened()
        for delivery in [ResponseDelivery.standard, .streamed, .standard] {
            var request = ApiRequest(url: url)
            request.delivery = delivery
            let body = try await provider.response(for: request).body
            #expect(try await body.collect(upTo: 2 << 20) == Data(repeating: 7, count: byteCount))
        }
        waiting.cancel()
        withExtendedLifetime(server) {}
    }

    /// One call of libcurl reads many responses, which is no flood.
    @Test func manyLargeResponsesEnd() async throws {
        let server = try LoopbackServer { connection in
            try connection.serveHTTP2 { stream in
                try connection.send(Self.response(stream, byteCount: 1 << 20, frameByteCount: 16_384))
            }
        }
        let (url, provider) = (server.url(), provider)
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<25 {
                group.addTask {
                    try await provider.response(for: ApiRequest(url: url)).body.collect(upTo: 2 << 20).count
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts == [Int](repeating: 1 << 20, count: 25))
        withExtendedLifetime(server) {}
    }
}
#endif
