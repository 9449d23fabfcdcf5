// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

@Suite struct HeaderPrecedenceTests {
    @Test func theLaterOfEnvironmentRouteConnectionAndCallWins() async throws {
        let seen = EventLog<[String?]>()
        let names: [HTTPHeaders.Name] = ["X-1", "X-2", "X-3", "X-4"]
        let api = NetworkConnector(
            environment: Place(defaultHeaders: ["X-1": "place", "X-2": "place", "X-3": "place", "X-4": "place"]),
            provider: TestConnector { request in
                seen.note(names.map { request.headers[$0] })
                return .status(204)
            },
            router: Endpoint<ApiPath>.self,
            configuration: ConnectionConfiguration(headers: ["X-3": "connection", "X-4": "connection"])
        )
        let route = Endpoint<ApiPath>(path: "/a", headers: ["X-2": "route", "X-3": "route", "X-4": "route"])
        try await api.send(at: route, options: CallOptions(headers: ["X-4": "call"]))
        #expect(seen.events == [["place", "route", "connection", "call"]])
    }
}
