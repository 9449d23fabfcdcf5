// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Inspector

/// The code of the guide "Inspecting traffic".
enum InspectingTraffic {
    static func line() {
        let provider = SystemProvider().inspected().retrying()
        _ = provider
    }

    static func release() async throws {
        let inspector = Inspector(exchangeCount: 10_000)
        let page = Task { try await inspector.run() }
        print("Inspector: \(try await inspector.address())")
        let provider = SystemProvider().inspected(by: inspector).retrying()
        _ = (page, provider)
    }
}
