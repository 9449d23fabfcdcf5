// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

struct RecordedRequestTests {
    private func sent(_ request: ApiRequest) async throws -> RecordedRequest {
        let script = Script(for: Shop.self, in: .test)
        _ = try? await TestConnector(script).response(for: request)
        _ = await script.end()
        return try #require(script.requests.first)
    }

    private func request(_ body: RequestBody) throws -> ApiRequest {
        let url = try #require(URL(string: "https://shop.example.com/teas?token=zebra"))
        return ApiRequest(url: url, method: .post, body: body)
    }

    @Test func itsDescriptionIsTheRequestAndItsOutcomeWithoutSecrets() async throws {
        let sent = try await sent(try request(.empty))
        #expect(sent.description.hasSuffix("failed (unmatched)"))
        #expect(sent.description.hasPrefix("POST https://shop.example.com"))
        #expect(!sent.description.contains("zebra"))
    }

    @Test func itsCurlCommandIsTheSameForTheSameJSON() async throws {
        func command(_ json: String) async throws -> String {
            try await sent(try request(.data(Data(json.utf8), mediaType: .json))).curlCommand
        }
        let sorted = try await command(#"{"b":2,"a":1,"pin":"0000"}"#)
        #expect(try await command(#"{"a": 1, "pin": "0000", "b": 2}"#) == sorted)
        #expect(sorted.contains(#""a":1,"b":2"#))
        #expect(!sorted.contains("0000"))
    }
}
