// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorRecording
import ApiConnector
import ApiConnectorTesting
import Testing

/// Secrets within the texts of a recorded JSON body.
struct SecretInTextTests: RecordingSuite {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func aTokenInALinkWithinJSONIsReplacedInPlace() async throws {
        let json = #"{"items":[1,2],"next":"https://h/teas?page=2&token=zebrakiwi42&size=5","note":"tea"}"#
        let answer = TestConnectorResponse.data(Data(json.utf8), headers: ["Content-Type": "application/json"])
        let text = try await recorded(try request("http://h/teas"), answer)
        #expect(!text.contains("zebrakiwi42"))
        let replay = TestConnector(Replay(try Recording(contentsOf: file)))
        let body = try await replay.response(for: try request("http://h/teas")).body.collect(upTo: .max)
        let value = try JSONDecoder().decode(JSONValue.self, from: body)
        let next = try #require(value["next"].string)
        #expect(next.hasPrefix("https://h/teas?page=2&token="))
        #expect(next.hasSuffix("&size=5"))
        #expect(value["note"].string == "tea")
    }
}
