// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnector
import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

/// Calls over the libcurl that this process has loaded.
///
/// `Scripts/curl-versions` runs only this suite over a version that the library does not support.
struct CurlVersionTests {
    @Test func onlyAVersionThatIsTooLowFailsTheCall() async throws {
        let version = try #require(CurlVersion.loaded)
        let server = try LoopbackServer { connection in
            while let request = try connection.readRequest() {
                try connection.send(.text("good"), answering: request)
            }
        }
        let request = ApiRequest(url: server.url("/"), method: .post, body: .text("body"))
        let provider = CurlProvider(configuration: .patient)
        if version < "7.76.1" {
            let error = await #expect(throws: ApiConnectorError.self) { try await provider.response(for: request) }
            #expect(error?.kind == .invalidRequest)
            for part in ["\(version)", "7.76.1", "traits: []"] {
                #expect(error?.detail.contains(part) == true, "\(part) in \(error?.detail ?? "")")
            }
            #expect(server.requests.isEmpty)
        } else {
            let response = try await provider.response(for: request)
            #expect(try await response.body.collect(upTo: 100) == Data("good".utf8))
        }
    }
}
#endif
