// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorRecording
import ApiConnector
import ApiConnectorTesting
import Testing

/// Recordings whose body was edited by hand, so that its chunks no longer fit.
struct EditedChunkTests {
    private func body(_ chunks: String) async throws -> String {
        let recording = try Recording(
            har: Data(
                #"""
                {"log": {"version": "1.2", "creator": {"name": "ApiConnector", "version": "1"}, "entries": [
                  {"request": {"method": "GET", "url": "http://h/a", "headers": []},
                   "response": {"status": 200, "headers": [{"name": "Content-Type", "value": "text/plain"}],
                    "content": {"mimeType": "text/plain", "size": 6, "text": "abcdef", "_chunks": \#(chunks)}}}]}}
                """#.utf8
            )
        )
        let replay = TestConnector(Replay(recording))
        let request = ApiRequest(url: try #require(URL(string: "http://h/a")))
        return String(decoding: try await replay.response(for: request).body.collect(upTo: .max), as: UTF8.self)
    }

    @Test(arguments: [
        "[]", #"[{"byteCount": 2}, {"byteCount": 4}]"#, #"[{"byteCount": 2}, {"byteCount": 2}]"#,
        #"[{"byteCount": 2}, {"byteCount": 40}, {"byteCount": 1}]"#, #"[{"byteCount": -1}, {"byteCount": 0.5}, {}]"#,
    ])
    func theBodyIsReplayedWhole(_ chunks: String) async throws {
        #expect(try await body(chunks) == "abcdef")
    }
}
