// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct BadInputTests {}

extension BadInputTests {
    private static func connection(
        _ wire: Wire,
        to port: Int,
        headers: HTTPHeaders = HTTPHeaders()
    ) -> NetworkConnector<AnyProvider, Endpoint<ApiPath>> {
        NetworkConnector(
            environment: Place(host: LoopbackServer.host, port: port),
            provider: wire.transport,
            configuration: ConnectionConfiguration(
                headers: headers,
                maximumBodyByteCount: 1000,
                timeouts: .unlimited
            )
        )
    }

    /// M14: inputs that end the process are omitted for URLSession on Linux.
    private static let rows: [(Wire, BadInput)] = Wire.sockets.flatMap { wire in
        (BadInput.transport + BadInput.responses)
            .filter { !wire.isFoundationNetworking || (playsTablesOverURLSession && !$0.endsFoundation) }
            .map { (wire, $0) }
    }

    @Test(arguments: rows)
    func eachBadInputFailsWithItsKind(_ wire: Wire, _ input: BadInput) async throws {
        let server = try LoopbackServer(input.serve)
        let api = Self.connection(wire, to: server.port)
        let error = try await failure { () throws(ApiConnectorError) in
            try await api.value(Item.self, at: Endpoint("/"))
        }
        #expect(error.kind == input.kind, "\(error)")
        let text = error.description
        #expect(
            text.hasPrefix("GET http://\(LoopbackServer.host):\(server.port)/ failed (\(input.kind)): \(input.detail)"),
            "\(text)"
        )
        #expect(text.contains(". ") || text.hasSuffix("."), "\(text)")
        #expect(text.utf8.count < 2500)
        #expect(server.errors.isEmpty)

        // Nothing is left behind: the same provider still works.
        let healthy = try LoopbackServer.responding { _ in .json(#"{"id":1}"#) }
        let url = healthy.url("/next")
        #expect(try await api.value(Item.self, at: url) == Item(id: 1))
    }

    @Test(arguments: Wire.sockets)
    func invalidUTF8IsNotText(_ wire: Wire) async throws {
        let server = try LoopbackServer.responding { _ in
            let headers = [(name: "Content-Type", value: "application/json")]
            return LoopbackResponse(headers: headers, body: Data(#"{"title":""#.utf8) + [0xFF] + Data(#""}"#.utf8))
        }
        let api = Self.connection(wire, to: server.port)
        let error = try await failure { () throws(ApiConnectorError) in
            try await api.value([String: String].self, at: Endpoint("/"))
        }
        #expect(error.kind == .decodingFailed)
        #expect(
            error.detail == "the body does not decode as Dictionary<String, String>: "
                + "at the top level: The given data was not valid JSON (at line 1, column 11)"
        )
    }

    @Test(arguments: Wire.sockets)
    func noServerIsThere(_ wire: Wire) async throws {
        let port = try RefusingPort()
        defer { withExtendedLifetime(port) {} }
        let api = Self.connection(wire, to: port.number)
        let error = try await failure { () throws(ApiConnectorError) in try await api.send(at: Endpoint("/")) }
        #expect(error.kind == .cannotConnect)
        #expect(
            error.description.hasPrefix("GET http://\(LoopbackServer.host):\(port.number)/ failed (cannotConnect): ")
        )
        let advice = ". Check that the server is running, and check the environment's host and port."
        #expect(error.description.hasSuffix(advice))
    }

    /// libcurl's limit is 5,000 fields from 8.14 on, which then also applies to Foundation.
    @Test(arguments: Wire.sockets)
    func tenThousandFieldsAllArriveOrFailTheCall(_ wire: Wire) async throws {
        let server = try LoopbackServer { connection in
            guard try connection.readRequest() != nil else { return }
            let fields = (0..<10_000).map { "X-\($0): \($0)\r\n" }.joined()
            try connection.send("HTTP/1.1 200 OK\r\n\(fields)Content-Length: 2\r\n\r\nok")
        }
        let api = Self.connection(wire, to: server.port)
        guard wire == .urlSession, CurlVersion.loaded.map({ $0 < "8.14" }) ?? true else {
            let error = await #expect(throws: ApiConnectorError.self) { try await api.response(at: Endpoint("/")) }
            #expect(error?.kind == .malformedResponse)
            if wire == .system {
                let detail =
                    "the heads and trailers of the response have more than 5000 fields, which is also libcurl's limit"
                #expect(error?.detail == detail)
            }
            return
        }
        let response = try await api.response(at: Endpoint("/"))
        #expect(response.headers.count == 10_001)
        #expect(response.headers["X-9999"] == "9999")
        #expect(try await response.body.collect(upTo: 10) == Data("ok".utf8))
    }

    @Test(arguments: Wire.sockets)
    func aBodyLongerThanItsLengthEndsAtItsLength(_ wire: Wire) async throws {
        let server = try LoopbackServer { connection in
            guard let request = try connection.readRequest() else { return }
            guard request.target == "/long" else { return try connection.send(.text("next"), answering: request) }
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and much more than that")
            try connection.waitUntilPeerCloses()
        }
        let api = Self.connection(wire, to: server.port)
        #expect(try await api.data(at: Endpoint("/long")) == Data("ok".utf8))
        #expect(try await api.data(at: Endpoint("/next")) == Data("next".utf8))
    }

    @Test(arguments: Wire.sockets)
    func anUnsolicitedResponseAnswersNoCall(_ wire: Wire) async throws {
        let server = try LoopbackServer { connection in
            while let request = try connection.readRequest() {
                let own = LoopbackResponse.text("for \(request.target)").bytes(answering: request.method)
                guard request.target == "/first" else { return try connection.send(own) }
                try connection.send(own + LoopbackResponse.text("forged").bytes(answering: "GET"))
            }
        }
        let api = Self.connection(wire, to: server.port)
        #expect(try await api.data(at: Endpoint("/first")) == Data("for /first".utf8))
        #expect(try await api.data(at: Endpoint("/second")) == Data("for /second".utf8))
        #expect(server.requests.map(\.target) == ["/first", "/second"])
    }

    /// Errors that do not depend on the transport have the same text with canned responses.
    @Test(arguments: [
        ("{\"id\":1", "application/json", 200), ("<html></html>", "text/html", 200), ("", "application/json", 200),
        ("", "text/plain", 302), ("sign in", "text/plain", 401),
        (String(repeating: "a", count: 2000), "application/json", 200),
    ])
    func cannedAnswersEndTheSameWay(_ body: String, _ type: String, _ status: Int) async throws {
        var texts: [String] = []
        for wire in Wire.allCases {
            let web = try ScriptedWeb(over: wire) { _ in
                LoopbackResponse(status: status, headers: [("Content-Type", type)], body: Data(body.utf8))
            }
            let api = NetworkConnector(
                environment: web.place,
                provider: web.provider,
                router: Endpoint<ApiPath>.self,
                configuration: ConnectionConfiguration(maximumBodyByteCount: 1000, timeouts: .unlimited)
            )
            let error = try await failure { () throws(ApiConnectorError) in
                try await api.value(Item.self, at: Endpoint("/it"))
            }
            texts.append(error.description.replacing(web.shownHome, with: "http://server"))
        }
        #expect(texts.count == 3)
        #expect(Set(texts).count == 1, "\(texts)")
    }
}
