// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorConformance
import ApiConnector
import ApiConnectorTesting
import Testing

/// The list that every transport and every double is held to, through the adapters that answer from a source.
///
/// A seed carries no source, only what a script declares; the program that reads it answers itself by a TestConnector.
struct AdapterConformanceTests {
    /// A provider, and the adapter that has to live as long as it does.
    private struct Carried<Provider: DataRequestType>: DataRequestType {
        let provider: Provider
        let adapter: any Sendable

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            try await provider.response(for: request)
        }
    }

    private static let exclusions = {
        let isReadFirst = "a ScriptServer reads a request to its end before it looks for the answer"
        return [
            "sends the first chunk of a source before the source ends": isReadFirst,
            "ends a canceled call while the body's source is idle, and releases the source": isReadFirst,
        ].merging(ConformanceTests.exclusions) { $1 }
    }()

    @Test func checkK_aScriptServerPassesTheCasesThatNeedNoConnection() async {
        let target = ConformanceTarget.served(named: "a ScriptServer") { answers in
            let server = try ScriptServer(answers)
            return (Carried(provider: ConformanceTests.transport(), adapter: server), server.url)
        }
        let report = await target.check(excluding: Self.exclusions, within: ConformanceTests.limit)
        print(report)
        #expect(report.isPassed, "\(report)")
    }

    #if Curl && os(Linux) || !canImport(FoundationNetworking)
    @Test func checkK_aScriptServerAsAProxyPassesTheCasesThatNeedNoConnection() async {
        let target = ConformanceTarget.served(named: "a ScriptServer as a proxy") { answers in
            let server = try ScriptServer(answers)
            let client = try ScriptAdapter.client(ofProxy: server.port)
            let url = try #require(URL(string: "http://conformance.example/"))
            return (Carried(provider: client, adapter: server), url)
        }
        let report = await target.check(excluding: Self.exclusions, within: ConformanceTests.limit)
        print(report)
        #expect(report.isPassed, "\(report)")
    }
    #endif

    /// A session has the same limits over a bridge as over a network.
    @Test func checkK_aSessionBridgePassesTheCasesThatNeedNoConnection() async {
        let target = ConformanceTarget.testDouble(named: "a SessionBridge") { answers in
            let bridge = try SessionBridge(answers, delivery: .inChunks)
            return Carried(provider: URLSessionProvider(session: bridge.session), adapter: bridge)
        }
        let exclusions = URLSessionProvider.conformanceExclusions
        let report = await target.check(excluding: exclusions, within: ConformanceTests.limit)
        print(report)
        #expect(report.isPassed, "\(report)")
    }
}
