// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// An error states how much of the request was sent.
struct CurlSentBytesTests {
    private func bytesSent(_ request: ApiRequest) async -> ApiConnectorError.SentBytes? {
        let provider = CurlProvider(configuration: .patient)
        return await #expect(throws: ApiConnectorError.self) { try await provider.response(for: request) }?.bytesSent
    }

    @Test func nothingIsSentWithoutAConnection() async throws {
        let port = try RefusingPort()
        defer { withExtendedLifetime(port) {} }
        let url = try #require(URL(string: "http://127.0.0.1:\(port.number)/"))
        #expect(await bytesSent(ApiRequest(url: url, method: .post, body: .text("body"))) == .nothing)
    }

    @Test func allBytesAreSentWhenTheServerHasReadThem() async throws {
        let server = try LoopbackServer { connection in _ = try connection.readRequest() }
        for body in [.empty, .text("body")] as [RequestBody] {
            #expect(await bytesSent(ApiRequest(url: server.url(), method: .post, body: body)) == .all)
        }
    }

    @Test func someBytesAreSentIfTheServerDisconnectsWithinTheBody() async throws {
        let server = try LoopbackServer { connection in
            _ = try connection.readHead()
            connection.reset()
        }
        // More than the sockets on both sides keep.
        let body = RequestBody.data(Data(count: 64 << 20))
        var request = ApiRequest(url: server.url(), method: .post, body: body)
        request.headers["Expect"] = ""
        #expect(await bytesSent(request) == .some)
    }
}
#endif
