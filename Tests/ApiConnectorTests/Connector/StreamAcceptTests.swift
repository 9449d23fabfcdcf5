// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// The `Accept` field of a stream or a download, if the default field has another value.
struct StreamAcceptTests {
    private static let json = "application/vnd.github+json"

    /// A connection with a default `Accept` field, whose server records the requested types.
    private func connection(_ type: String, _ body: String) throws -> (
        ScriptedWeb, NetworkConnector<AnyProvider, Endpoint<ApiPath>>
    ) {
        let web = try ScriptedWeb(over: .testConnector) { _ in
            LoopbackResponse(headers: [(name: "Content-Type", value: type)], body: Data(body.utf8))
        }
        return (web, web.connection(headers: ["Accept": Self.json]))
    }

    private func all<Element>(_ stream: ResponseStream<Element>) async throws(ApiConnectorError) -> [Element] {
        var elements: [Element] = []
        for try await element in stream { elements.append(element) }
        return elements
    }

    @Test func replacesADefaultAcceptThatExcludesItsFormat() async throws {
        let (web, api) = try connection("text/event-stream", "data: 1\n\n")
        #expect(try await all(api.stream(of: Int.self, at: Endpoint("/"), as: .events)) == [1])
        #expect(web.requests.map { $0.header("Accept") } == ["text/event-stream"])
    }

    @Test func addsItsFormatToADefaultAcceptThatIncludesAPart() async throws {
        let (web, api) = try connection("application/x-ndjson", "1\n2\n")
        #expect(try await all(api.stream(of: Int.self, at: Endpoint("/"))) == [1, 2])
        let more = "application/x-ndjson, application/jsonl, application/json-seq, text/event-stream"
        #expect(web.requests.map { $0.header("Accept") } == ["\(Self.json), \(more)"])
    }

    @Test func keepsADefaultThatIncludesItsFormat() async throws {
        let (web, api) = try connection("application/json", "[1]")
        #expect(try await all(api.stream(of: Int.self, at: Endpoint("/"), as: .elements)) == [1])
        #expect(web.requests.map { $0.header("Accept") } == [Self.json])
    }

    @Test func takesAnyTypeOfLinesAndDownloadsButPrefersTheDefault() async throws {
        let (web, api) = try connection("application/octet-stream", "bytes")
        #expect(try await all(api.stream(at: Endpoint("/"), as: .lines)) == ["bytes"])
        let folder = try TemporaryFolder()
        let file = folder.file("asset.bin")
        #expect(try await api.download(at: Endpoint("/"), to: file).file().byteCount == 5)
        let accept = "\(Self.json), */*;q=0.1"
        #expect(web.requests.map { $0.header("Accept") } == [accept, accept])
    }

    @Test func keepsTheAcceptOfTheCall() async throws {
        let (web, api) = try connection("text/event-stream", "data: 1\n\n")
        let options = CallOptions(headers: ["Accept": "text/*"])
        #expect(try await all(api.stream(of: Int.self, at: Endpoint("/"), as: .events, options: options)) == [1])
        #expect(web.requests.map { $0.header("Accept") } == ["text/*"])
    }
}
