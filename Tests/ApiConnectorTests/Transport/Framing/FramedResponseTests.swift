// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

struct FramedResponseTests {
    #if Curl && os(Linux)
    @Test(arguments: FramedResponse.all)
    func isReadAsTheTableSaysCollected(_ response: FramedResponse) async throws {
        let actual = try await outcome(of: response, over: .curlCollected)
        #expect(actual == response.curl)
    }

    @Test(arguments: FramedResponse.all)
    func isReadAsTheTableSaysStreamed(_ response: FramedResponse) async throws {
        let actual = try await outcome(of: response, over: .curlStreamed)
        #expect(actual == response.curl)
    }
    #endif

    // The table has what Foundation on Linux does.
    #if canImport(FoundationNetworking)
    @Test(
        .enabled(if: playsTablesOverURLSession, "M14: Foundation ends the process over this libcurl"),
        arguments: FramedResponse.all.filter { $0.foundation != .endsTheProcess }
    ) func isReadAsTheTableSaysOverURLSession(_ response: FramedResponse) async throws {
        let actual = try await outcome(of: response, over: .urlSession)
        #expect(actual == response.foundation)
    }
    #endif

    @Test func namesAreUnique() {
        let names = FramedResponse.all.map(\.testDescription)
        #expect(names.count > 200)
        #expect(Set(names).count == names.count)
        #expect(FoundationChange.names(in: FramedResponse.foundationChanges).isSubset(of: names))
    }

    private func outcome(
        of framed: FramedResponse,
        over transport: HostileTransport
    ) async throws -> FramedResponse.Outcome {
        let server = try LoopbackServer { connection in
            if framed.isEarly {
                _ = try connection.readHead()
            } else {
                _ = try connection.readRequest()
            }
            try connection.send(Data(framed.bytes))
            try connection.finishSending()
            try connection.waitUntilPeerCloses()
        }
        // In release the server would end with its last use, which is before the call.
        defer { withExtendedLifetime(server) {} }
        let body = framed.isEarly ? RequestBody.data(Data(count: 1 << 20)) : .empty
        let request = ApiRequest(url: server.url(), method: framed.method, body: body, delivery: transport.delivery)
        // A body's bytes come as long as its provider lives.
        let provider = transport.provider(.http1)
        defer { withExtendedLifetime(provider) {} }
        do throws(ApiConnectorError) {
            let response = try await provider.response(for: request)
            let text = String(decoding: try await response.body.collect(upTo: 1 << 20), as: UTF8.self)
            let x = response.headers.values("X").joined(separator: "|")
            return .accepted(response.status.rawValue, text, x: response.headers.contains("X") ? x : nil)
        } catch {
            return .refused(error.kind)
        }
    }
}
