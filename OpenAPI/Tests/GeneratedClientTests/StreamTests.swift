// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// Tests of the values that the generated client's streams deliver.
struct StreamTests {
    private func files(
        _ type: String,
        _ body: String
    ) -> NetworkConnector<TestConnector<ClosureResponses>, FilesRouter> {
        NetworkConnector(
            environment: .production,
            provider: TestConnector { _ in .data(Data(body.utf8), headers: ["Content-Type": type]) }
        )
    }

    private func elements<Element>(_ stream: ResponseStream<Element>) async throws -> [Element] {
        var elements: [Element] = []
        for try await element in stream { elements.append(element) }
        return elements
    }

    @Test func theDataOfAnEventIsDecodedAsItsContentSchemaSays() async throws {
        let body = """
            event: change
            id: 1
            data: {"type":"said","text":"Hello"}

            retry: 100
            data: {"type":"left"}


            """
        let events = try await elements(files("text/event-stream", body).stream(.feed()))
        guard events.count == 2, case .said(let said) = events[0], case .left = events[1] else {
            Issue.record("\(events)")
            return
        }
        #expect(said.text == "Hello")
    }

    @Test func anEventWhoseDataIsATextIsKeptAsItIs() async throws {
        let body = "event: title\ndata: not JSON\n\ndata: a\ndata: b\n\n"
        let events = try await elements(files("text/event-stream", body).stream(.news(), as: .events))
        #expect(events == [ServerSentEvent(type: "title", data: "not JSON"), ServerSentEvent(data: "a\nb")])
    }

    @Test func eachLineIsAValue() async throws {
        let body = #"{"name":"a"}"# + "\n\n" + #"{"name":"b","age":3}"#
        let owners = try await elements(files("application/x-ndjson", body).stream(.lines()))
        #expect(owners.map(\.name) == ["a", "b"])
        #expect(owners.map(\.additionalProperties) == [[:], ["age": 3]])
    }

    @Test func eachTextOfASequenceIsAValue() async throws {
        let body = "\u{1E}" + #"{"name":"a"}"# + "\n\u{1E}" + #"{"name":"b"}"# + "\n"
        let owners = try await elements(files("application/json-seq", body).stream(.sequence()))
        #expect(owners.map(\.name) == ["a", "b"])
    }
}
