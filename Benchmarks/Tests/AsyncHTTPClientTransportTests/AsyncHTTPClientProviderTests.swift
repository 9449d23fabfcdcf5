// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
// The transport cases are visible only to sibling targets. This package can use them, because it is built with testing
// enabled.
@testable import ApiConnectorConformance
@testable import ApiConnectorTestServers
import AsyncHTTPClientTransport
import Testing

struct AsyncHTTPClientProviderTests {
    private static let exclusions = [
        "never reads bytes after a body as the next response":
            "async-http-client reuses a connection that it is about to close: sometimes the next request fails as "
            + "connectionLost before it reads the surplus",
        "yields the chunks before malformed data, then fails":
            "async-http-client drops unread bytes as soon as it cannot continue to read",
        "ends a stalled call before the head":
            "async-http-client does not report when bytes move, which a transport must do to detect a silence",
    ]

    @Test func keepsThePromisesOfATransport() async {
        let report = await ConformanceTarget.transport { AsyncHTTPClientProvider() }.check(excluding: Self.exclusions)
        print(report)
        #expect(report.isPassed, "\(report)")
    }

    @Test func streamsAResponse() async throws {
        let body = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let server = try LoopbackServer.responding { _ in LoopbackResponse(body: body) }
        let request = ApiRequest(url: server.url(), delivery: .streamed)
        let provider = AsyncHTTPClientProvider()
        let response = try await provider.response(for: request)
        var received = Data()
        var chunkCount = 0
        for try await chunk in response.body {
            received.append(chunk)
            chunkCount += 1
        }
        withExtendedLifetime(provider) {}
        #expect(received == body)
        #expect(chunkCount > 1)
    }

    @Test(arguments: [nil, 12])
    func streamsARequest(byteCount: Int?) async throws {
        let server = try LoopbackServer.responding { _ in .text("ok") }
        let body = RequestBody.stream(byteCount: byteCount) {
            AsyncStream<Data> { continuation in
                for part in ["one ", "two ", "four"] { continuation.yield(Data(part.utf8)) }
                continuation.finish()
            }
        }
        let request = ApiRequest(url: server.url(), method: .post, body: body)
        let response = try await AsyncHTTPClientProvider().response(for: request)
        #expect(response.status == 200)
        let seen = try await server.request(0)
        #expect(String(decoding: seen.body, as: UTF8.self) == "one two four")
        #expect(seen.header("Content-Length") == byteCount.map { "\($0)" })
    }

    @Test func failsAsTheSourceOfTheBodyFails() async throws {
        struct Broken: Error {}
        let server = try LoopbackServer.responding { _ in .text("ok") }
        let body = RequestBody.stream { AsyncThrowingStream<Data, any Error> { throw Broken() } }
        let request = ApiRequest(url: server.url(), method: .post, body: body)
        let error = await #expect(throws: ApiConnectorError.self) {
            try await AsyncHTTPClientProvider().response(for: request)
        }
        #expect(error?.kind == .encodingFailed)
    }
}
