// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import TestSupport
import Testing

/// A body whose length is not the announced one is never sent as if it were whole.
struct UploadLengthTests {
    private static func put(
        _ body: RequestBody,
        to server: LoopbackServer,
        over transport: HostileTransport
    ) async throws(ApiConnectorError) {
        let request = ApiRequest(url: server.url(), method: .put, body: body, delivery: transport.delivery)
        _ = try await transport.provider(.http1).response(for: request).body.collect(upTo: 100)
    }

    private static func fifo() throws -> URL {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try #require(mkfifo(file.path, 0o600) == 0)
        return file
    }

    private static func stream(_ byteCount: Int?, _ chunks: [String]) -> RequestBody {
        .stream(byteCount: byteCount) {
            AsyncStream { continuation in
                for chunk in chunks { continuation.yield(Data(chunk.utf8)) }
                continuation.finish()
            }
        }
    }

    @Test(arguments: HostileTransport.allCases)
    func aNamedPipeIsSentWhole(_ transport: HostileTransport) async throws {
        let fifo = try Self.fifo()
        defer { try? FileManager.default.removeItem(at: fifo) }
        let shell = try Shell("printf 'from a pipe' >'\(fifo.path)'")
        let server = try LoopbackServer.responding { _ in .status(204) }
        let body = RequestBody.file(fifo)
        #expect(body.byteCount == nil)
        #expect(!body.isReplayable)
        try await Self.put(body, to: server, over: transport)
        #expect(try await server.request(0).body == Data("from a pipe".utf8))
        #expect(shell.end() == 0)
    }

    /// A file of /proc claims to have 0 bytes.
    @Test(arguments: HostileTransport.allCases)
    func aFileOfProcIsSentWhole(_ transport: HostileTransport) async throws {
        let file = URL(filePath: "/proc/version")
        let content = try Data(contentsOf: file)
        try #require(!content.isEmpty)
        let server = try LoopbackServer.responding { _ in .status(204) }
        let body = RequestBody.file(file)
        #expect(body.isReplayable)
        try await Self.put(body, to: server, over: transport)
        #expect(try await server.request(0).body == content)
    }

    @Test(arguments: HostileTransport.allCases)
    func aFormWithANamedPipeIsSentWhole(_ transport: HostileTransport) async throws {
        let fifo = try Self.fifo()
        defer { try? FileManager.default.removeItem(at: fifo) }
        let shell = try Shell("printf 'from a pipe' >'\(fifo.path)'")
        let server = try LoopbackServer.responding { _ in .status(204) }
        let body = RequestBody.multipart([.file(fifo, name: "pipe")])
        #expect(body.byteCount == nil)
        #expect(!body.isReplayable)
        try await Self.put(body, to: server, over: transport)
        let sent = try await server.request(0).body
        #expect(String(decoding: sent, as: UTF8.self).contains("\r\n\r\nfrom a pipe\r\n"))
        #expect(shell.end() == 0)
    }

    @Test(arguments: HostileTransport.allCases)
    func anEmptyFileHasALength(_ transport: HostileTransport) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        try Data().write(to: file)
        let server = try LoopbackServer.responding { _ in .status(204) }
        let body = RequestBody.file(file)
        #expect(body.byteCount == 0)
        try await Self.put(body, to: server, over: transport)
        let request = try await server.request(0)
        #expect(request.header("Content-Length") == "0")
        #expect(request.body == Data())
    }

    /// The file grew after the body was made.
    @Test(arguments: HostileTransport.allCases)
    func anEmptyFileThatGrowsIsAFailure(_ transport: HostileTransport) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        try Data().write(to: file)
        let body = RequestBody.file(file)
        try Data("more".utf8).write(to: file)
        try await Self.expectFailure(body, "the body's source announced 0 bytes, but has more", over: transport)
    }

    @Test(arguments: HostileTransport.allCases, [0, 1, 4, 6])
    func aSourceWithMoreThanItAnnouncedIsAFailure(_ transport: HostileTransport, _ byteCount: Int) async throws {
        let text = "the body's source announced \(byteCount) bytes, but has more"
        try await Self.expectFailure(Self.stream(byteCount, ["abcd", "efg"]), text, over: transport)
    }

    @Test(arguments: HostileTransport.allCases)
    func aSourceWithLessThanItAnnouncedIsAFailure(_ transport: HostileTransport) async throws {
        let text = "the body's source announced 8 bytes, but has only 7"
        try await Self.expectFailure(Self.stream(8, ["abcd", "efg"]), text, over: transport)
    }

    @Test(arguments: HostileTransport.allCases)
    func anEmptySourceOfKnownLengthIsSent(_ transport: HostileTransport) async throws {
        let server = try LoopbackServer.responding { _ in .status(204) }
        try await Self.put(Self.stream(0, []), to: server, over: transport)
        #expect(try await server.request(0).header("Content-Length") == "0")
    }

    /// A pipe without a writer, and a source that never ends, do not keep a canceled call.
    @Test(arguments: HostileTransport.allCases, [true, false])
    func aSourceThatWaitsEndsWithItsCall(_ transport: HostileTransport, isPipe: Bool) async throws {
        let fifo = try Self.fifo()
        defer { try? FileManager.default.removeItem(at: fifo) }
        let isRead = Gate("source")
        let body: RequestBody =
            isPipe
            ? .file(fifo)
            : .stream(byteCount: 0) {
                isRead.open()
                return AsyncStream<Data> { _ in }
            }
        let server = try LoopbackServer.responding { _ in .status(204) }
        let call = Task { try await Self.put(body, to: server, over: transport) }
        if !isPipe { try await isRead.opened() }
        call.cancel()
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == .cancelled)
        #expect(server.requests.isEmpty)
    }

    #if Curl
    /// The limits also apply while an empty source is read before anything is sent.
    @Test func aLimitEndsAnEmptySourceThatNeverEnds() async throws {
        let isRead = Gate("source")
        let body = RequestBody.stream(byteCount: 0) {
            isRead.open()
            return AsyncStream<Data> { _ in }
        }
        let clock = SynchronousClock()
        let api = NetworkConnector<CurlProvider, Router>(
            environment: .localhost,
            provider: CurlProvider(configuration: .patient),
            configuration: ConnectionConfiguration(timeouts: LateLimit.overall.timeouts, timeSource: clock)
        )
        let server = try LoopbackServer.responding { _ in .status(204) }
        let url = server.url()
        let call = Task { try await api.send(at: url, method: .put, body: body) }
        try await isRead.opened()
        clock.advance(to: .seconds(60))
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == .deadlineExceeded)
    }
    #endif

    /// The call fails, and the server never has a request that seems to be whole.
    private static func expectFailure(
        _ body: RequestBody,
        _ detail: String,
        over transport: HostileTransport
    ) async throws {
        let server = try LoopbackServer.responding { _ in .status(204) }
        let error = await #expect(throws: ApiConnectorError.self) {
            try await put(body, to: server, over: transport)
        }
        #expect(error?.kind == .encodingFailed)
        #expect(error?.detail == detail)
        server.stop()
        try await server.threadsEnded()
        #expect(server.requests.isEmpty)
    }
}
#endif
