// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

struct ValueStreamTests {
    private func values(_ stream: ResponseStream<Int>) async throws(ApiConnectorError) -> [Int] {
        var values: [Int] = []
        for try await value in stream { values.append(value) }
        return values
    }

    @Test(arguments: Wire.allCases)
    func isCold(_ wire: Wire) async throws {
        let web = try ScriptedWeb(over: wire) { _ in .json("42") }
        let stream = web.connection().stream(of: Int.self, at: Endpoint("/answer"))
        let unused = stream.makeAsyncIterator()
        #expect(web.requests.count == 0)
        #expect(try await values(stream) == [42])
        #expect(web.requests.count == 1)
        #expect(try await values(stream) == [42])
        #expect(web.requests.map(\.target) == ["/answer", "/answer"])
        _ = unused
    }

    @Test func endsWithItsOneValue() async throws {
        let web = try ScriptedWeb(over: .testConnector) { _ in .json("42") }
        let url = try #require(URL(string: web.home + "/answer"))
        var iterator = web.connection().stream(of: Int.self, at: url, method: .post).makeAsyncIterator()
        #expect(try await iterator.next() == 42)
        #expect(try await iterator.next() == nil)
        #expect(try await iterator.next() == nil)
        #expect(web.requests.map(\.method) == ["POST"])
    }

    @Test func endsWithAnError() async throws {
        let web = try ScriptedWeb(over: .testConnector) { _ in .status(500) }
        var iterator = web.connection().stream(of: Int.self, at: Endpoint("/answer")).makeAsyncIterator()
        do {
            let value = try await iterator.next()
            Issue.record("a value came: \(String(describing: value))")
        } catch {
            #expect(error.kind == .unacceptableStatus)
        }
        #expect(try await iterator.next() == nil)
        #expect(web.requests.count == 1)
    }

    @Test(arguments: Wire.sockets)
    func aCanceledLoopEndsAtOnceAndTheServerSeesIt(_ wire: Wire) async throws {
        let server = try LoopbackServer { connection in
            guard try connection.readRequest() != nil else { return }
            try connection.waitUntilPeerCloses()
        }
        let api = NetworkConnector(
            environment: Place(host: LoopbackServer.host, port: server.port),
            provider: wire.transport,
            router: Endpoint<ApiPath>.self,
            configuration: .patient
        )
        let loop = Task { () async throws(ApiConnectorError) -> [Int] in
            try await values(api.stream(of: Int.self, at: Endpoint("/silent")))
        }
        _ = try await server.request(0)
        loop.cancel()
        let result = await loop.result
        let error = try #require(throws: ApiConnectorError.self) { try result.get() }
        #expect(error.kind == .cancelled)
        #expect(error.detail == "the call was canceled")
        try await server.connectionEnded(0)
    }
}
