// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorRecording
import ApiConnector
import ApiConnectorTesting
import Testing

/// HAR files of browsers whose responses have no body, or have the body of another response.
struct BodilessRecordingTests {
    private func get(_ url: String) throws -> ApiRequest { ApiRequest(url: try #require(URL(string: url))) }

    private func har(status: Int, _ response: String) throws -> Recording {
        try Recording(
            har: Data(
                #"""
                {"log": {"version": "1.2", "entries": [
                  {"request": {"method": "GET", "url": "http://h/a", "headers": []},
                   "response": {"status": \#(status), "headers": [], \#(response)}}]}}
                """#.utf8
            )
        )
    }

    /// Firefox leaves the size out, too, if it exports no bodies.
    @Test(arguments: [
        #""content": {"mimeType": "image/png", "comment": "Response bodies are not included."}"#, #""bodySize": 0"#,
    ])
    func asksForAnExportWithContent(_ response: String) async throws {
        let replay = TestConnector(Replay(try har(status: 200, response)))
        let error = await #expect(throws: ApiConnectorError.self) { try await replay.response(for: get("http://h/a")) }
        #expect(error?.kind == .unmatched)
        #expect(error?.detail == "the recording has the answer's head but not its body; export it again with content")
    }

    @Test(arguments: [
        (204, #""content": {}"#), (302, #""content": {"comment": "x"}"#), (304, #""content": {}"#),
        (200, #""content": {"size": 0}"#),
    ])
    func aResponseThatHasNoBodyIsReplayed(_ status: Int, _ response: String) async throws {
        let replay = TestConnector(Replay(try har(status: status, response)))
        let answer = try await replay.response(for: get("http://h/a"))
        #expect(answer.status.rawValue == status)
        #expect(try await answer.body.collect(upTo: .max).isEmpty)
    }

    @Test func a304WithABodyIsReplayedAsA200() async throws {
        let content = #""content": {"mimeType": "text/html", "size": 4, "text": "page"}"#
        let replay = TestConnector(Replay(try har(status: 304, content)))
        let answer = try await replay.response(for: get("http://h/a"))
        #expect(answer.status == 200)
        #expect(answer.headers[.contentType] == "text/html")
        #expect(try await answer.body.collect(upTo: .max) == Data("page".utf8))
    }
}
