// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// The parts of a form with files, as a test sees them.
@Suite(.timeLimit(.minutes(10)))
struct MultipartMatcherTests {}

extension MultipartMatcherTests {
    private func send(_ body: RequestBody, to script: Script<Shop>) async throws {
        let url = try #require(URL(string: "https://shop.example.com/teas"))
        try await script.connection().send(at: url, method: .post, body: body)
    }

    @Test func aPartIsMatchedByNameAndText() async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(matching: .part("name", "green\r\ntea")).answer(.status(201))
        try await send(
            .multipart([
                .text("green\r\ntea", name: "name"), .json(Tea.green, name: "a \"b\""),
                .data(Data([0, 13, 10, 255]), name: "photo", fileName: "a.png", mediaType: MediaType("image", "png")),
                .text("", name: "empty"),
            ]),
            to: script
        )
        let parts = try #require(script.requests.first).parts
        #expect(parts.map(\.name) == ["name", "a \"b\"", "photo", "empty"])
        #expect(parts.map(\.fileName) == [nil, nil, "a.png", nil])
        #expect(parts.map(\.mediaType) == [nil, .json, MediaType("image", "png"), nil])
        #expect(parts[2].body == Data([0, 13, 10, 255]))
        #expect(try JSONDecoder().decode(Tea.self, from: parts[1].body) == .green)
        #expect(parts[3].text.isEmpty)
        #expect(await script.end().isEmpty)
    }

    @Test func aDifferentPartIsExplained() async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(matching: .part("name", "green"), .part("size", "2")).answer(.status(201), times: .anyNumber)
        let error = await #expect(throws: ApiConnectorError.self) {
            try await send(.multipart([.text("black", name: "name")]), to: script)
        }
        let text = try #require(error?.detail)
        #expect(text.contains("part name: \"green\" was expected, but \"black\" was sent"), "\(text)")
        #expect(text.contains("part size: \"2\" was expected, but none was sent"), "\(text)")
        _ = await script.end()
    }

    @Test func anotherBodyHasNoParts() async throws {
        let script = Script(for: Shop.self, in: .test)
        script.on(matching: .method(.post)).answer(.status(201), times: .anyNumber)
        for body: RequestBody in [.text("--x"), .data(Data(), mediaType: MediaType("multipart", "form-data"))] {
            try await send(body, to: script)
        }
        #expect(script.requests.flatMap(\.parts).isEmpty)
    }
}
