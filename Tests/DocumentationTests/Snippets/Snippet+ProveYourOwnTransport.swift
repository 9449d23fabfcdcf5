// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorConformance
import ApiConnector
import ApiConnectorTesting
import Testing

#if Curl && os(Linux)
private struct MyTransport: DataRequestType {
    private let transport = CurlProvider(configuration: CurlConfiguration())

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        try await transport.response(for: request)
    }
}

@Suite struct ProveYourOwnTransport {
    @Test func keepsThePromisesOfATransport() async {
        let target = ConformanceTarget.transport { MyTransport() }
        let report = await target.check()
        #expect(report.isPassed, "\(report)")
    }

    @Test func theStreamsAlone() async {
        let streams = ConformanceCase.all.filter { $0.topic == .streams }
        let report = await ConformanceTarget.transport { MyTransport() }.check(streams)
        #expect(report.isPassed, "\(report)")
        #expect(report.entries.count == streams.count)
    }

    @Test func allButOne() async {
        let report = await ConformanceTarget.transport { MyTransport() }.check(excluding: [
            "sends header fields in their order":
                "the client keeps its fields in a dictionary; RFC 9110, section 5.3, gives the order no meaning"
        ])
        #expect(report.isPassed, "\(report)")
        #expect(report.exclusions.count == 1)
    }

    @Test func aWrapper() async {
        let report = await ConformanceTarget.transport { MyTransport().addingHeaders(["X-App": "blog"]).tracing() }
            .check()
        #expect(report.isPassed, "\(report)")
    }

    @Test func aDouble() async {
        let report = await ConformanceTarget.testDouble { answers in TestConnector(answers) }.check()
        #expect(report.isPassed, "\(report)")
    }
}
#endif
