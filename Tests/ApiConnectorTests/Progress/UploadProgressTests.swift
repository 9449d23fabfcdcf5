// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

struct UploadProgressTests {
    private func upload(_ body: RequestBody) -> Endpoint<ApiPath> {
        var endpoint = Endpoint<ApiPath>(path: "/", method: .put)
        endpoint.body = body
        return endpoint
    }

    private func values(of progress: UploadProgress) async -> [TransferProgress] {
        var values: [TransferProgress] = []
        for await value in progress { values.append(value) }
        return values
    }

    @Test(arguments: Wire.allCases, [1000, 1_040_000, 3_000_000])
    func goesUpToTheEndOfTheBody(_ wire: Wire, _ byteCount: Int) async throws {
        // A canned response reads up to 1 MiB.
        if wire == .testConnector, byteCount > 1 << 20 { return }
        let web = try ScriptedWeb(over: wire) { _ in .status(204) }
        let bodies = [RequestBody.data(Data(count: byteCount)), .multipart([.data(Data(count: byteCount), name: "a")])]
        for body in wire == .testConnector ? [bodies[0]] : bodies {
            let progress = UploadProgress()
            async let seen = values(of: progress)
            try await web.connection().send(at: upload(body), options: CallOptions(uploadProgress: progress))
            let counts = await seen.map(\.byteCount)
            let total = try #require(body.byteCount)
            #expect(counts.last == total, "\(counts)")
            #expect(counts == counts.sorted())
            #expect(await values(of: progress).map(\.totalByteCount) == [total])
        }
    }

    // On Linux a streamed body is read into memory for URLSession.
    #if Curl || !os(Linux)
    /// Bytes that the transport has not read do not count, so the number grows while the server reads.
    @Test func isShownWhileTheServerStillReads() async throws {
        let gate = Gate("progress")
        let server = try LoopbackServer { connection in
            guard let request = try connection.readHead() else { return }
            try connection.send("HTTP/1.1 100 Continue\r\n\r\n")
            try connection.wait(for: gate)
            _ = try connection.readBody(of: request)
            try connection.send(.status(204), answering: request)
        }
        let api = NetworkConnector(
            environment: Place(host: LoopbackServer.host, port: server.port),
            provider: SystemProvider(),
            router: Endpoint<ApiPath>.self,
            configuration: ConnectionConfiguration(timeouts: .unlimited)
        )
        let total = 64 << 20
        let body = RequestBody.stream(byteCount: total) {
            AsyncStream(unfolding: { Data(count: 1 << 20) }).prefix(64)
        }
        let progress = UploadProgress()
        async let sent: Void = api.send(at: upload(body), options: CallOptions(uploadProgress: progress))
        var last = TransferProgress(byteCount: 0)
        for await value in progress {
            if value.byteCount > 0, value.byteCount < total { gate.open() }
            last = value
        }
        try await sent
        #expect(gate.isOpen)
        #expect(last.byteCount == total)
    }
    #endif

    @Test func yieldsOnlyTheNewestValueToASlowReader() async throws {
        let progress = UploadProgress()
        let clock = ManualClock()
        progress.begin(of: 100, clock)
        for count in 1...99 { progress.report(count, of: 100) }
        var reader = progress.makeAsyncIterator()
        #expect(await reader.next(isolation: nil)?.byteCount == 99)
        clock.advance(by: .seconds(2))
        progress.report(100, of: 100)
        progress.finish()
        progress.report(5, of: 100)
        #expect(
            await reader.next(isolation: nil)
                == TransferProgress(byteCount: 100, totalByteCount: 100, bytesPerSecond: 50)
        )
        #expect(await reader.next(isolation: nil) == nil)
        #expect(await values(of: progress).map(\.byteCount) == [100])
    }

    @Test func restartsWhenTheBodyIsSentAgain() async throws {
        let web = try ScriptedWeb(over: .system) { request in
            request.target == "/" ? LoopbackResponse(status: 307, headers: [("Location", "/b")]) : .status(204)
        }
        let progress = UploadProgress()
        let options = CallOptions(uploadProgress: progress)
        try await web.connection().send(at: upload(.data(Data(count: 2 << 20))), options: options)
        #expect(await values(of: progress).map(\.byteCount) == [2 << 20])
        #expect(web.requests.map(\.body.count) == [2 << 20, 2 << 20])
    }

    @Test func endsWithACallThatFails() async throws {
        let api = NetworkConnector(
            environment: Place(),
            provider: TestConnector { _ in .failure(URLError(.cannotConnectToHost)) },
            router: Endpoint<ApiPath>.self
        )
        let progress = UploadProgress()
        async let seen = values(of: progress)
        await #expect(throws: ApiConnectorError.self) {
            try await api.send(at: upload(.text("abc")), options: CallOptions(uploadProgress: progress))
        }
        #expect(await seen.map(\.byteCount) == [0])

        let never = UploadProgress()
        let file = RequestBody.file(URL(filePath: "/nowhere/at/all"))
        await #expect(throws: ApiConnectorError.self) {
            try await api.send(at: upload(file), options: CallOptions(uploadProgress: never))
        }
        #expect(await values(of: never).isEmpty)
    }

    /// By a transport that hands the body over in one piece.
    @Test(arguments: [0, 7])
    func reportsThatTheWholeBodyWasSent(_ byteCount: Int) async throws {
        struct Transport: DataRequestType {
            func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
                request.reportBodySent()
                return ApiResponse(to: request, status: 204)
            }
        }
        let api = NetworkConnector(environment: Place(), provider: Transport(), router: Endpoint<ApiPath>.self)
        let progress = UploadProgress()
        let body = byteCount == 0 ? RequestBody.empty : .data(Data(count: byteCount))
        try await api.send(at: upload(body), options: CallOptions(uploadProgress: progress))
        #expect(await values(of: progress).map(\.byteCount) == [byteCount])
    }

    @Test func endsForACanceledReader() async throws {
        let progress = UploadProgress()
        let reader = Task { await values(of: progress) }
        reader.cancel()
        #expect(await reader.value.isEmpty)
    }
}
