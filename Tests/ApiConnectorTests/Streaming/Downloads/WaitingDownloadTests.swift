// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorConformance
import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// Downloads that wait, for example for a concurrency limit.
struct WaitingDownloadTests {
    private let folder: TemporaryFolder
    private let waiting = WaitingProvider()

    init() throws {
        folder = try TemporaryFolder()
    }

    private func api(
        _ responses: @escaping @Sendable (ApiRequest) -> TestConnectorResponse
    ) -> NetworkConnector<AnyProvider, Endpoint<ApiPath>> {
        NetworkConnector(
            environment: Place(),
            provider: AnyProvider(waiting.wrapping(TestConnector { responses($0) })),
            configuration: ConnectionConfiguration(timeouts: .unlimited)
        )
    }

    @Test func aDownloadHasNoFileBeforeItsResponseArrives() async throws {
        let api = api { _ in .data(Data("bytes".utf8), headers: ["ETag": "\"v1\""]) }
        let downloads = (0..<20).map { number in
            Task { () async throws(ApiConnectorError) in
                try await api.download(at: Endpoint("/"), to: folder.file("\(number)")).file()
            }
        }
        await eventually { waiting.count == 20 }
        #expect(folder.names == [])
        #if os(Linux)
        let path = folder.url.path(percentEncoded: false)
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        let files = descriptors.compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        #expect(!files.isEmpty && files.filter { $0.hasPrefix(path) } == [])
        #endif
        waiting.gate.open()
        for download in downloads { #expect(try await download.value.byteCount == 5) }
        #expect(folder.names == (0..<20).map { "\($0)" }.sorted())
    }

    #if Curl && os(Linux)
    private func libcurl(
        connections count: Int,
        to server: LoopbackServer
    ) -> NetworkConnector<AnyProvider, Endpoint<ApiPath>> {
        var configuration = CurlConfiguration.patient
        configuration.maximumConnectionCount = count
        return NetworkConnector(
            environment: Place(host: LoopbackServer.host, port: server.port),
            provider: AnyProvider(waiting.wrapping(CurlProvider(configuration: configuration))),
            configuration: ConnectionConfiguration(timeouts: .unlimited)
        )
    }

    /// A body may have arrived long before its file is in its place.
    @Test func noMoreFilesAreOpenThanConnectionsAreAllowed() async throws {
        let server = try LoopbackServer.responding { _ in .text("bytes") }
        let api = libcurl(connections: 3, to: server)
        let name = folder.url.lastPathComponent
        let counts = Locked<[Int]>([])
        let calls = FileCalls { descriptor, bytes, offset in
            let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
            let files = descriptors.compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
            }
            counts.withLock { $0.append(files.count { $0.contains("/\(name)/") }) }
            return FileCalls.system.write(descriptor, bytes, offset)
        }
        let downloads = (0..<100).map { number in
            Task {
                let target = folder.file("\(number)")
                let stream = api.download(
                    .route(Endpoint("/")),
                    to: target,
                    resuming: nil,
                    CallOptions(),
                    calls: calls
                )
                for try await event in stream {
                    // Other downloads may run while this one's file is open.
                    if case .progress = event { for _ in 0..<20 { await Task.yield() } }
                }
            }
        }
        // Before it waits, a download opens its file for a moment.
        await eventually { waiting.count == 100 }
        waiting.gate.open()
        for download in downloads { try await download.value }
        #expect(folder.names == (0..<100).map { "\($0)" }.sorted())
        let seen = counts.withLock { $0 }
        #expect(seen.count == 100)
        #expect(seen.allSatisfy { 1...3 ~= $0 }, "\(seen)")
    }

    /// The place of a download is free when its loop ends, and when it waits to be resumed.
    @Test func aDownloadThatEndsEarlyFreesItsPlace() async throws {
        let server = try LoopbackServer.responding { request in
            var headers = [(name: "ETag", value: "\"v1\""), (name: "Content-Length", value: "10")]
            if request.target == "/whole" { return LoopbackResponse(headers: headers, body: Data(count: 10)) }
            guard request.header("Range") != nil else {
                headers.append((name: "Connection", value: "close"))
                return LoopbackResponse(headers: headers, body: Data(count: 4))
            }
            headers[1].value = "6"
            headers.append((name: "Content-Range", value: "bytes 4-9/10"))
            return LoopbackResponse(status: 206, headers: headers, body: Data(count: 6))
        }
        let api = libcurl(connections: 1, to: server)
        waiting.gate.open()
        let policy = RetryPolicy(maximumAttemptCount: 3, initialDelay: .zero)
        for number in 0..<3 {
            for try await _ in api.download(at: Endpoint("/whole"), to: folder.file("left")) { break }
            let target = folder.file("\(number)")
            let done = try await api.download(at: Endpoint("/cut"), to: target, resuming: policy).file()
            #expect(done.byteCount == 10)
            #expect(done.head.status == 206)
        }
    }

    /// The file that is open belongs to the last response, so the first one must not keep a place.
    @Test func aDownloadThatAWrapperSendsTwiceKeepsOnePlace() async throws {
        let server = try LoopbackServer.responding { _ in .text("bytes") }
        var configuration = CurlConfiguration.patient
        configuration.maximumConnectionCount = 1
        let api = NetworkConnector<AnyProvider, Endpoint<ApiPath>>(
            environment: Place(host: LoopbackServer.host, port: server.port),
            provider: AnyProvider(SendingTwice(wrapped: CurlProvider(configuration: configuration))),
            configuration: ConnectionConfiguration(timeouts: .unlimited)
        )
        for number in 0..<3 {
            let done = try await api.download(at: Endpoint("/"), to: folder.file("\(number)")).file()
            #expect(done.byteCount == 5)
        }
        #expect(server.requests.count == 6)
    }

    /// The second request waits before the body of the first response has arrived.
    @Test func aDownloadWhoseWrapperKeepsAnEarlierResponseEnds() async throws {
        let gate = Gate("the second request waits")
        let server = try LoopbackServer { connection in
            while try connection.readRequest() != nil {
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
                try connection.wait(for: gate)
                try connection.send("bytes")
            }
        }
        var configuration = CurlConfiguration.patient
        configuration.maximumConnectionCount = 1
        let provider = CurlProvider(configuration: configuration)
        let api = NetworkConnector<AnyProvider, Endpoint<ApiPath>>(
            environment: Place(host: LoopbackServer.host, port: server.port),
            provider: AnyProvider(KeepingTheFirst(wrapped: provider)),
            configuration: ConnectionConfiguration(timeouts: .unlimited)
        )
        let download = Task { try await api.download(at: Endpoint("/"), to: folder.file("a")).file() }
        try await provider.isAwaited(by: 1)
        gate.open()
        #expect(try await download.value.byteCount == 5)
        #expect(server.requests.count == 2)
    }

    private struct KeepingTheFirst: DataRequestType {
        let wrapped: CurlProvider

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            let first = try await wrapped.response(for: request)
            let second = try await wrapped.response(for: request)
            return withExtendedLifetime(first) { second }
        }
    }

    private struct SendingTwice: DataRequestType {
        let wrapped: CurlProvider

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            _ = try await wrapped.response(for: request).body.collect(upTo: 100)
            return try await wrapped.response(for: request)
        }
    }
    #endif

    @Test func ofTwoDownloadsToOneFileThatWaitOneFails() async throws {
        let feed = BodyFeed()
        let api = api { _ in .feed(feed, headers: ["ETag": "\"v1\""]) }
        var downloads: [Task<DownloadedFile, any Error>] = []
        for count in 1...2 {
            let download = Task {
                try await api.download(at: Endpoint("/"), to: folder.file("a"), resuming: nil).file()
            }
            downloads.append(download)
            // A download that starts while another one looks at the file fails before it waits.
            await eventually { waiting.count == count }
        }
        waiting.gate.open()
        await eventually { waiting.endCount == 2 }
        try await feed.send(Data("one".utf8))
        feed.finish()
        var details: [String] = []
        for download in downloads {
            do { #expect(try await download.value.byteCount == 3) } catch {
                details.append((error as? ApiConnectorError)?.detail ?? "\(error)")
            }
        }
        #expect(details.count == 1)
        #expect(details.first?.hasSuffix("/a: another download to it is running") == true)
        #expect(folder.data("a") == Data("one".utf8))
        #expect(folder.names == ["a"])
    }

    @Test func startsOverIfAnotherDownloadChangesThePartBeforeTheResponseArrives() async throws {
        let version = FileHost.Version(content: Data.counting(by: 7, byteCount: 9000))
        let folder = folder
        let host = try FileHost(
            in: folder,
            [
                { request in
                    for name in folder.names { try? FileManager.default.removeItem(at: folder.file(name)) }
                    return version.answer(request)
                }, { version.answer($0) },
            ]
        )
        try host.leave(
            Data(count: 100),
            .init(url: "\(host.web.home)/export", validator: "\"v1\"", totalByteCount: 9000)
        )
        _ = try await host.stream().file()
        #expect(host.content == version.content)
        #expect(host.ranges == ["bytes=100- if \"v1\"", "whole"])
    }
}

/// A provider whose requests wait for a gate before they are sent.
private final class WaitingProvider: Sendable {
    let gate = Gate("the download's turn")
    private let counts = Locked((waiting: 0, ended: 0))

    var count: Int { counts.withLock { $0.waiting } }
    var endCount: Int { counts.withLock { $0.ended } }

    func wrapping(_ provider: some DataRequestType) -> some DataRequestType { Wrapper(provider, self) }

    private struct Wrapper<Wrapped: DataRequestType>: DataRequestType {
        private let wrapped: Wrapped
        private let waiting: WaitingProvider

        init(_ wrapped: Wrapped, _ waiting: WaitingProvider) {
            self.wrapped = wrapped
            self.waiting = waiting
        }

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            waiting.counts.withLock { $0.waiting += 1 }
            try? await waiting.gate.opened()
            defer { waiting.counts.withLock { $0.ended += 1 } }
            return try await wrapped.response(for: request)
        }
    }
}
