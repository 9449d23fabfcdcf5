// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

/// A response head prints no secret of its URL and its fields.
struct ResponseHeadTests {
    private func texts(_ value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return ["\(value)", String(reflecting: value), dumped]
    }

    @Test func printsWithoutSecrets() throws {
        let url = try #require(URL(string: "http://ada:hush@h/a?api_key=hush&page=2"))
        let head = ResponseHead(status: 200, headers: ["X-Api-Key": "hush"], url: url)
        #expect("\(head)".hasSuffix(" from http://h/a"))
        let response = DecodedResponse(value: 1, head: head)
        for text in texts(head) + texts(response) + texts([head]) {
            #expect(!text.contains("hush"), "\(text)")
        }
    }
}
