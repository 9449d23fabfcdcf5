// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

struct ElementStreamTests {
    private func body(_ text: String, type: String?, status: Int = 200) -> LoopbackResponse {
        let headers = type.map { [(name: "Content-Type", value: $0)] } ?? []
        return LoopbackResponse(status: status, headers: headers, body: Data(text.utf8))
    }

    private func all<Element>(_ stream: ResponseStream<Element>) async throws(ApiConnectorError) -> [Element] {
        var elements: [Element] = []
        for try await element in stream { elements.append(element) }
        return elements
    }

    private static let typed: [(type: String?, body: String, [[Int]])] = [
        ("application/json", "[1]", [[1]]),
        ("application/problem+json; charset=utf-8", "[1, 2]", [[1, 2]]),
        (nil, "[1]", [[1]]),
        ("application/x-ndjson", "[1]\n[2]\n", [[1], [2]]),
        ("application/jsonl; charset=utf-8", "[1]\n[2]", [[1], [2]]),
        ("application/json-seq", "\u{1E}[1]\n\u{1E}[2]\n", [[1], [2]]),
        ("text/event-stream", "data: [1]\n\ndata: [2]\n\n", [[1], [2]]),
        ("application/x-ndjson", "", []),
    ]

    @Test(arguments: Wire.allCases, typed.indices)
    func choosesTheFormatByMediaType(_ wire: Wire, _ row: Int) async throws {
        let (type, text, expected) = Self.typed[row]
        let web = try ScriptedWeb(over: wire) { _ in body(text, type: type) }
        #expect(try await all(web.connection().stream(of: [Int].self, at: Endpoint("/"))) == expected)
        #expect(
            web.requests[0].header("Accept") == "application/json, application/x-ndjson, application/jsonl, "
                + "application/json-seq, text/event-stream"
        )
    }

    @Test(arguments: Wire.allCases)
    func readsTheFormatOfTheCall(_ wire: Wire) async throws {
        let web = try ScriptedWeb(over: wire) { request in
            switch request.target {
            case "/array": body("[1,2]", type: "application/json")
            case "/items": body(#"{"n":0,"data":{"items":[1,2]}}"#, type: "application/hal+json")
            case "/lines": body("1\n2\n", type: "text/plain")
            default: body("data: 1\n\ndata: 2\n\ndata: [DONE]\n\ndata: 3\n\n", type: "text/event-stream")
            }
        }
        let api = web.connection()
        #expect(try await all(api.stream(of: Int.self, at: Endpoint("/array"), as: .elements)) == [1, 2])
        let items = api.stream(of: Int.self, at: Endpoint("/items"), as: .elements(at: "data.items"))
        #expect(try await all(items) == [1, 2])
        #expect(try await all(api.stream(at: Endpoint("/lines"), as: .lines)) == ["1", "2"])
        #expect(try await all(api.stream(at: Endpoint("/lines"), as: .text)).joined() == "1\n2\n")
        let chunks = try await all(api.stream(at: Endpoint("/lines"), as: .chunks))
        #expect(Data(chunks.joined()) == Data("1\n2\n".utf8))
        #expect(try await all(api.stream(of: Int.self, at: Endpoint("/lines"), as: .jsonLines)) == [1, 2])
        let url = try #require(URL(string: web.home + "/events"))
        #expect(
            try await all(api.stream(of: Int.self, at: url, method: .post, as: .events(until: "[DONE]"))) == [1, 2]
        )
        let call = ApiCall<Endpoint<ApiPath>, ServerSentEvent>(Endpoint("/events"))
        #expect(try await all(api.stream(call, as: .events)).map(\.data) == ["1", "2", "[DONE]", "3"])
        #expect(web.requests.last?.header("Accept") == "text/event-stream")
        #expect(web.requests.count { $0.method == "POST" } == 1)
    }

    @Test(arguments: Wire.allCases)
    func failsBeforeItsFirstElementAsAValueDoes(_ wire: Wire) async throws {
        let web = try ScriptedWeb(over: wire) { request in
            switch request.target {
            case "/page": body("<html>", type: "text/html")
            case "/nothing": body("", type: nil, status: 204)
            default: body(#"{"why":"broken"}"#, type: "application/json", status: 500)
            }
        }
        let api = web.connection()
        let broken = await #expect(throws: ApiConnectorError.self) {
            try await all(api.stream(of: Int.self, at: Endpoint("/broken"), as: .elements))
        }
        #expect(broken?.kind == .unacceptableStatus)
        #expect(broken?.response?.bodyPrefix == #"{"why":"broken"}"#)
        #expect(broken?.request?.url.hasSuffix("/broken") == true)
        let page = await #expect(throws: ApiConnectorError.self) {
            try await all(api.stream(of: ServerSentEvent.self, at: Endpoint("/page"), as: .events))
        }
        #expect(page?.kind == .unacceptableMediaType)
        let nothing = await #expect(throws: ApiConnectorError.self) {
            try await all(api.stream(of: Int.self, at: Endpoint("/nothing")))
        }
        #expect(nothing?.kind == .decodingFailed)
        #expect(try await all(api.stream(of: Int?.self, at: Endpoint("/nothing"))) == [nil])
        #expect(try await all(api.stream(of: Int.self, at: Endpoint("/nothing"), as: .jsonLines)).isEmpty)
    }

    @Test(arguments: Wire.allCases)
    func namesTheRecordThatDoesNotDecode(_ wire: Wire) async throws {
        let web = try ScriptedWeb(over: wire) { _ in body("1\n\"two\"\n3\n", type: "application/x-ndjson") }
        let api = web.connection()
        var values: [Int] = []
        let error = await #expect(throws: ApiConnectorError.self) {
            for try await value in api.stream(of: Int.self, at: Endpoint("/")) { values.append(value) }
        }
        #expect(values == [1])
        #expect(error?.kind == .decodingFailed)
        #expect(error?.stage == .value)
        #expect(error?.response?.status == 200)
        #expect(error?.request?.method == .get)
        #expect(error?.elapsed != nil)
        #expect(
            error?.detail == "record 2, which begins at byte 2 of the body, does not decode as Int: at the top level a "
                + "value of type Int was expected; found \"two\""
        )
        let skipping = api.stream(of: Int.self, at: Endpoint("/"), as: .skippingUndecodable(.automatic))
        #expect(try await all(skipping) == [1, 3])
        let results = api.stream(of: Result<Int, ApiConnectorError>.self, at: Endpoint("/"), as: .results(.automatic))
        #expect(try await all(results).map { try? $0.get() } == [1, nil, 3])
        let options = CallOptions(maximumRecordByteCount: 4)
        let long = await #expect(throws: ApiConnectorError.self) {
            try await all(
                api.stream(of: Int.self, at: Endpoint("/"), as: .skippingUndecodable(.automatic), options: options)
            )
        }
        #expect(long?.kind == .recordTooLarge)
    }

    @Test(arguments: Wire.sockets)
    func closesTheConnectionAtASentinel(_ wire: Wire) async throws {
        let server = try endlessServer()
        var elements = connection(to: server, over: wire)
            .stream(of: Int.self, at: Endpoint("/"), as: .events(until: "2"))
            .makeAsyncIterator()
        #expect(try await elements.next() == 1)
        #expect(try await elements.next() == nil)
        // While the iterator is still there.
        try await server.connectionEnded(0)
        #expect(try await elements.next() == nil)
    }

    @Test(arguments: Wire.sockets)
    func endsWhenTheServerStalls(_ wire: Wire) async throws {
        let server = try endlessServer()
        let clock = ManualClock()
        let api = NetworkConnector(
            environment: Place(host: LoopbackServer.host, port: server.port),
            provider: wire.transport,
            router: Endpoint<ApiPath>.self,
            configuration: ConnectionConfiguration(timeouts: Timeouts(stall: .seconds(5)), timeSource: clock)
        )
        let seen = Gate("first elements")
        let loop = Task { () async throws(ApiConnectorError) -> [Int] in
            for try await number in api.stream(of: Int.self, at: Endpoint("/")) where number == 2 { seen.open() }
            return []
        }
        try await seen.opened()
        let advancing = Task {
            while !Task.isCancelled {
                clock.advance(by: .seconds(5))
                await Task.yield()
            }
        }
        let result = await loop.result
        advancing.cancel()
        let error = try #require(throws: ApiConnectorError.self) { try result.get() }
        #expect(error.kind == .stalled)
        try await server.connectionEnded(0)
    }

    @Test func yieldsOneChunkOfAMillionBytesInBoundedPieces() async throws {
        let text = (0..<5000).map { "\($0)\n" }.joined()
        let web = try ScriptedWeb(over: .testConnector) { _ in body(text, type: "application/jsonl") }
        #expect(try await all(web.connection().stream(of: Int.self, at: Endpoint("/"))) == Array(0..<5000))
    }

    private func connection(
        to server: LoopbackServer,
        over wire: Wire
    ) -> NetworkConnector<AnyProvider, Endpoint<ApiPath>> {
        NetworkConnector(
            environment: Place(host: LoopbackServer.host, port: server.port),
            provider: wire.transport,
            configuration: ConnectionConfiguration(timeouts: .unlimited)
        )
    }

    /// Sends two events and then nothing, until it is left.
    private func endlessServer() throws -> LoopbackServer {
        try LoopbackServer { connection in
            guard try connection.readRequest() != nil else { return }
            try connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\ndata: 2\n\n")
            try connection.waitUntilPeerCloses()
        }
    }
}
