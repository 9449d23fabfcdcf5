// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

struct UserAgentTests {
    @Test(arguments: Wire.sockets)
    func namesTheLibraryUnlessTheRequestNamesAnother(_ wire: Wire) async throws {
        let web = try ScriptedWeb(over: wire) { _ in LoopbackResponse(status: 204) }
        let api = web.connection()
        try await api.send(at: Endpoint("/"))
        try await api.send(at: Endpoint("/"), options: CallOptions(headers: ["User-Agent": "Notes/1.0"]))
        #expect(web.requests.map { $0.header("User-Agent") } == ["ApiConnector/0.1", "Notes/1.0"])
    }
}
