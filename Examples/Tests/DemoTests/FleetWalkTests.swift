// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTraffic
import Backends
import DemoServer
import Testing
import Walkthrough

@Suite struct FleetWalkTests {
    @Test func fourInstancesWithSharedStateKeepOneLimitAndRefreshOnce() async throws {
        let lines = Lines()
        let walk = Walk(write: lines.append)
        let state = MemorySharedState()
        try await DemoServer.run { url in
            let location = try #require(ServerLocation(url))
            await walk.fleet(over: SystemProvider(), at: .stock(on: location)) { state }
        }
        #expect(walk.isAsExpected, "\(lines.text)")
        #expect(walk.stepCount == 6)
        #expect(lines.text.contains("40 calls, with shared state: the server got 50 requests\n"))
        #expect(lines.text.contains("an expired token, with shared state: 1 refresh\n"))
    }
}
