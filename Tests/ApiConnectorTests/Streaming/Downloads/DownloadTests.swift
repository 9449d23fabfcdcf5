// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorConformance
import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

struct DownloadTests {
    private typealias Version = FileHost.Version
    private let bytes = Data.counting(by: 7, byteCount: 300_000)

    @Test(arguments: Wire.allCases)
    func endsInTheFileAndLeavesNothingElse(_ wire: Wire) async throws {
        let version = Version(content: bytes)
        let host = try FileHost(over: wire, [{ version.answer($0) }])
        var counts: [Int] = []
        var totals: Set<Int?> = []
        var files: [DownloadedFile] = []
        for try await event in host.api.download(at: Endpoint("/export"), to: host.target) {
            switch event {
            case .progress(let progress):
                counts.append(progress.byteCount)
                totals.insert(progress.totalByteCount)
                #expect(host.content == nil)
            case .finished(let file): files.append(file)
            }
        }
        #expect(files.map(\.file) == [host.target] && files.map(\.byteCount) == [300_000])
        #expect(files.first?.head.headers[.etag] == "\"v1\"")
        #expect(counts == counts.sorted() && counts.last == 300_000)
        #expect(totals == [300_000])
        #expect(host.content == bytes)
        #expect(host.folder.names == ["export.bin"])
        #expect(host.web.requests.map { $0.header("Accept-Encoding") } == ["identity"])
        #expect(host.web.requests.map { $0.header("Accept") } == ["*/*"])
    }

    @Test(arguments: Wire.allCases)
    func replacesAnOlderFileAndSendsARequestForEachIteration(_ wire: Wire) async throws {
        let version = Version(content: bytes)
        let host = try FileHost(over: wire, [{ version.answer($0) }])
        try Data("old, and longer".utf8).write(to: host.target)
        let stream = host.stream()
        _ = try await stream.file()
        #expect(host.content == bytes)
        _ = try await stream.file()
        #expect(host.ranges == ["whole", "whole"])
        #expect(host.folder.names == ["export.bin"])
    }

    @Test(arguments: Wire.allCases)
    func downloadsAnEmptyFileAndOneOfUnknownLength(_ wire: Wire) async throws {
        let empty = try FileHost(over: wire, [{ _ in Version(content: Data()).whole() }])
        #expect(try await empty.stream().file().byteCount == 0)
        #expect(empty.content == Data())

        let chunked = Data("5\r\nhello\r\n0\r\n\r\n".utf8)
        let unknown = try FileHost(
            over: wire,
            [
                { _ in
                    // A canned response has no framing.
                    wire == .testConnector
                        ? LoopbackResponse(body: Data("hello".utf8))
                        : LoopbackResponse(headers: [("Transfer-Encoding", "chunked")], body: chunked)
                }
            ]
        )
        var totals: [Int?] = []
        for try await event in unknown.stream() {
            if case .progress(let progress) = event { totals.append(progress.totalByteCount) }
        }
        #expect(!totals.isEmpty && totals.allSatisfy { $0 == nil })
        #expect(unknown.content == Data("hello".utf8))
    }

    @Test(arguments: Wire.allCases)
    func failsLikeAnyCallForARejectedResponse(_ wire: Wire) async throws {
        let host = try FileHost(over: wire, [{ _ in .json(#"{"why":"gone"}"#, status: 404) }])
        try Data("old".utf8).write(to: host.target)
        let error = await host.failure(of: host.stream())
        #expect(error?.kind == .unacceptableStatus)
        #expect(error?.response?.bodyPrefix == #"{"why":"gone"}"#)
        #expect(host.content == Data("old".utf8))
        #expect(host.folder.names == ["export.bin"])
    }

    @Test func refusesABodyThatIsLongerThanAnnounced() async throws {
        let version = Version(content: bytes)
        let host = try FileHost(
            over: .testConnector,
            [
                { _ in
                    var answer = version.whole()
                    answer.body.append(0)
                    return answer
                }
            ]
        )
        let error = await host.failure(of: host.stream())
        #expect(error?.kind == .malformedResponse)
        #expect(error?.detail == "the body is longer than the 300000 bytes that the server announced")
        #expect(host.folder.names == [])
    }

    @Test func refusesARangeOfTheCallers() async throws {
        let host = try FileHost([{ _ in .status(200) }])
        let options = CallOptions(headers: ["Range": "bytes=0-1"])
        let error = await host.failure(of: host.api.download(at: Endpoint("/"), to: host.target, options: options))
        #expect(error?.kind == .invalidRequest)
        #expect(host.web.requests.isEmpty)
    }

    @Test func refusesAPartialResponseWithoutARangeRequest() async throws {
        let version = Version(content: bytes)
        let host = try FileHost([{ _ in version.rest(from: 100) }])
        let error = await host.failure(of: host.stream())
        #expect(error?.kind == .malformedResponse)
        #expect(host.folder.names == [])
    }

    @Test func reportsItsSpeed() async throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock()
        let chunks = [Data](repeating: Data(count: 1000), count: 4)
        let api = NetworkConnector(
            environment: Place(),
            provider: TestConnector { _ in .chunks(chunks, headers: ["Content-Length": "4000"]) },
            router: Endpoint<ApiPath>.self,
            configuration: ConnectionConfiguration(timeouts: .unlimited, timeSource: clock)
        )
        var rates: [Double?] = []
        var rests: [Duration?] = []
        for try await event in api.download(at: Endpoint("/"), to: folder.file("a")) {
            guard case .progress(let progress) = event else { continue }
            rates.append(progress.bytesPerSecond)
            rests.append(progress.remainingTime)
            // The next chunk is read after the loop's body, and not before.
            clock.advance(by: .seconds(2))
        }
        let expectedRates: [Double?] = [nil, 1000, 750, 4000.0 / 6]
        let expectedRests: [Duration?] = [nil, .seconds(2), .seconds(1000.0 / 750), .zero]
        #expect(rates == expectedRates)
        #expect(rests == expectedRests)
    }

    @Test func goesThroughRedirectsAndTheChainOfProviders() async throws {
        let version = Version(content: bytes)
        let moved = { @Sendable (_: SeenRequest) in LoopbackResponse(status: 302, headers: [("Location", "/there")]) }
        let host = try FileHost([
            moved, { version.answer($0, cutAt: 1000) }, moved, { version.answer($0) },
        ])
        _ = try await host.stream().file()
        #expect(host.content == bytes)
        #expect(host.web.requests.map(\.target) == ["/export", "/there", "/export", "/there"])
        #expect(host.ranges.suffix(2) == ["bytes=1000- if \"v1\"", "bytes=1000- if \"v1\""])
    }

    // URLSession on Linux reads ahead of a slow reader.
    #if Curl && os(Linux)
    /// 128 MiB go through while the process, which has nothing else to do, grows by less than 32 MiB.
    @Test func keepsAtMostAWindowAndAChunkInMemory() async {
        await #expect(processExitsWith: .success) {
            let server = try LoopbackServer { connection in
                _ = try connection.readRequest()
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(128 << 20)\r\n\r\n")
                let block = Data(count: 1 << 20)
                for _ in 0..<128 { try connection.send(block) }
                try connection.waitUntilPeerCloses()
            }
            let folder = try TemporaryFolder()
            let api = NetworkConnector(
                environment: Place(host: LoopbackServer.host, port: server.port),
                provider: SystemProvider(),
                router: Endpoint<ApiPath>.self,
                configuration: .patient
            )
            let before = try ProcessFootprint()
            let file = try await api.download(at: Endpoint("/"), to: folder.file("large")).file()
            try #require(file.byteCount == 128 << 20)
            let after = try ProcessFootprint()
            let allowed = before.adding(descriptors: 20, threads: 20, byteCount: 32 << 20)
            guard after.isWithin(allowed) else { throw LoopbackError.timedOut("\(before) became \(after)") }
        }
    }
    #endif
}
