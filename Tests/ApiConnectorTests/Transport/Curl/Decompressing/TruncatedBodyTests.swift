// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// Half of a coded body is no success, however the response is framed.
struct TruncatedBodyTests {
    enum Framing: CaseIterable {
        case close, contentLength, chunked
    }

    /// Answers every request with a body; the transfer itself is whole.
    static func server(_ body: Data, coding: String, _ framing: Framing = .contentLength) throws -> LoopbackServer {
        try LoopbackServer { connection in
            while try connection.readRequest() != nil {
                try connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\n")
                switch framing {
                case .close:
                    try connection.send("Connection: close\r\n\r\n")
                    try connection.send(body)
                    return
                case .contentLength:
                    try connection.send("Content-Length: \(body.count)\r\n\r\n")
                    try connection.send(body)
                case .chunked:
                    try connection.send("Transfer-Encoding: chunked\r\n\r\n")
                    for chunk in Cuts.chunks(of: body, 7) { try connection.sendChunk(chunk) }
                    try connection.sendChunk("")
                }
            }
        }
    }

    private func body(_ url: URL, _ delivery: ResponseDelivery) async throws(ApiConnectorError) -> Data {
        try await CurlProvider().response(for: ApiRequest(url: url, delivery: delivery)).body.collect(upTo: 1 << 20)
    }

    @Test(arguments: CodedFixture.all, Framing.allCases)
    func isAFailure(_ fixture: CodedFixture, _ framing: Framing) async throws {
        for delivery in [ResponseDelivery.standard, .streamed] {
            let whole = try Self.server(fixture.whole, coding: fixture.coding, framing)
            #expect(try await body(whole.url(), delivery) == CodedFixture.text)
            let half = fixture.whole.prefix(fixture.whole.count / 2)
            let server = try Self.server(half, coding: fixture.coding, framing)
            let error = await #expect(throws: ApiConnectorError.self) { try await body(server.url(), delivery) }
            #expect(error?.kind == .connectionLost)
            let detail = "the body ended before the end of its \(fixture.coding) data: some of it is missing"
            #expect(error?.detail == detail)
        }
    }

    /// Without a length, only the end of the connection ends the body, and nothing proves that it was not cut.
    @Test(arguments: CodedFixture.all) func isAFailureWithoutAByte(_ fixture: CodedFixture) async throws {
        for delivery in [ResponseDelivery.standard, .streamed] {
            let server = try Self.server(Data(), coding: fixture.coding, .close)
            let error = await #expect(throws: ApiConnectorError.self) { try await body(server.url(), delivery) }
            #expect(error?.kind == .connectionLost)
            #expect(
                error?.detail == "the body ended before the end of its \(fixture.coding) data: some of it is missing"
            )
        }
    }

    /// A length of 0 and a last chunk prove that the body is whole.
    @Test(arguments: CodedFixture.all, [Framing.contentLength, .chunked])
    func anEmptyBodyWithALengthIsNoFailure(_ fixture: CodedFixture, _ framing: Framing) async throws {
        for delivery in [ResponseDelivery.standard, .streamed] {
            let server = try Self.server(Data(), coding: fixture.coding, framing)
            #expect(try await body(server.url(), delivery) == Data())
        }
    }

    /// A response without a body names the coding that its body would have.
    @Test func aResponseWithoutABodyIsNoFailure() async throws {
        for (method, status) in [(HTTPMethod.head, 200), (.get, 204), (.get, 304)] {
            let server = try LoopbackServer { connection in
                _ = try connection.readRequest()
                try connection.send("HTTP/1.1 \(status) X\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n")
            }
            let response = try await CurlProvider().response(for: ApiRequest(url: server.url(), method: method))
            #expect(response.status.rawValue == status)
            #expect(try await response.body.collect(upTo: 100) == Data())
        }
    }

    /// A download asks for no coding, and some servers send one all the same.
    @Test(arguments: CodedFixture.all) func isAFailedDownload(_ fixture: CodedFixture) async throws {
        let fields = [(name: "Content-Encoding", value: fixture.coding), (name: "ETag", value: "\"1\"")]
        let host = try FileHost([
            { _ in LoopbackResponse(headers: fields, body: fixture.whole.dropLast()) },
            { _ in LoopbackResponse(headers: fields, body: fixture.whole) },
        ])
        let error = await host.failure(of: host.stream())
        #expect(error?.kind == .connectionLost)
        #expect(host.content == nil)
        _ = try await host.stream().file()
        #expect(host.content == CodedFixture.text)
    }
}
#endif
