// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorConformance
import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// Downloads that go on where they broke off.
struct ResumedDownloadTests {
    private typealias Version = FileHost.Version
    private let bytes = Data.counting(by: 7, byteCount: 300_000)
    private let old = Data("old".utf8)
    private static let day = "Mon, 01 Jun 2026 10:00:00 GMT"

    @Test(arguments: Wire.allCases)
    func resumesAfterALostConnectionWithinTheCall(_ wire: Wire) async throws {
        let version = Version(content: bytes)
        let host = try FileHost(
            over: wire,
            [
                { version.answer($0, cutAt: 100_000) }, { version.answer($0, cutAt: 200_000) }, { version.answer($0) },
            ]
        )
        let file = try await host.stream().file()
        #expect(file.byteCount == 300_000 && file.head.status == 206)
        #expect(host.content == bytes)
        #expect(host.ranges == ["whole", "bytes=100000- if \"v1\"", "bytes=200000- if \"v1\""])
        #expect(host.folder.names == ["export.bin"])
    }

    @Test func resumesAfterASingleByte() async throws {
        let version = Version(content: bytes)
        let host = try FileHost([{ version.answer($0, cutAt: 1) }, { version.answer($0) }])
        _ = try await host.stream().file()
        #expect(host.content == bytes)
        #expect(host.ranges == ["whole", "bytes=1- if \"v1\""])
    }

    /// The second host's connection is another one, as it would be in another process.
    @Test(arguments: Wire.allCases)
    func resumesWhereAnEarlierRunEnded(_ wire: Wire) async throws {
        let version = Version(content: bytes)
        let first = try FileHost(over: wire, [{ version.answer($0, cutAt: 123_456) }])
        try old.write(to: first.target)
        let error = await first.failure(of: first.stream(resuming: nil))
        #expect(error?.kind == .connectionLost)
        #expect(first.content == old)
        #expect(first.folder.names == [".export.bin.part", ".export.bin.part.json", "export.bin"])
        #expect(first.folder.data(".export.bin.part") == bytes.prefix(123_456))

        let second = try FileHost(over: wire, in: first.folder, [{ version.answer($0) }])
        // The same URL, although the second server has another port.
        try second.rename(.init(url: "\(second.web.shownHome)/export", validator: "\"v1\"", totalByteCount: 300_000))
        var counts: [Int] = []
        for try await event in second.stream() {
            if case .progress(let progress) = event { counts.append(progress.byteCount) }
        }
        #expect(counts.allSatisfy { $0 > 123_456 } && counts.last == 300_000)
        #expect(second.content == bytes)
        #expect(second.ranges == ["bytes=123456- if \"v1\""])
        #expect(second.folder.names == ["export.bin"])
    }

    @Test(arguments: Wire.allCases)
    func resumesWithAStrongLastModifiedDate(_ wire: Wire) async throws {
        let later = "Mon, 01 Jun 2026 10:00:01 GMT"
        let version = Version(content: bytes, etag: nil, lastModified: Self.day, more: [("Date", later)])
        let host = try FileHost(over: wire, [{ version.answer($0, cutAt: 5000) }, { version.answer($0) }])
        _ = try await host.stream().file()
        #expect(host.content == bytes)
        #expect(host.ranges == ["whole", "bytes=5000- if \(Self.day)"])
    }

    @Test func resumesEvenIfTheCallAcceptsOnlyStatus200() async throws {
        let version = Version(content: bytes)
        let host = try FileHost([{ version.answer($0, cutAt: 5000) }, { version.answer($0) }])
        let options = CallOptions(validation: .status(200))
        let policy = FileHost.atOnce
        _ = try await host.api.download(at: Endpoint("/export"), to: host.target, resuming: policy, options: options)
            .file()
        #expect(host.content == bytes)
        #expect(host.ranges == ["whole", "bytes=5000- if \"v1\""])
    }

    /// The check has accepted the beginning, in this call or in an earlier one.
    ///
    /// It would take the rest for a whole body.
    @Test func resumesWithoutACheckOfTheRest() async throws {
        let version = Version(content: bytes)
        let host = try FileHost([
            { version.answer($0, cutAt: 5000) }, { version.answer($0, cutAt: 9000) }, { version.answer($0) },
        ])
        let start = bytes.first
        let check = ResponseValidation { (response, body) throws(ApiConnectorError) in
            guard body.first == start else {
                throw ApiConnectorError(.other, at: .validation, "not the start", response: response, body: body)
            }
        }
        let options = CallOptions(validation: .status(200).and(check))
        let once = host.api.download(at: Endpoint("/export"), to: host.target, resuming: nil, options: options)
        #expect(await host.failure(of: once)?.kind == .connectionLost)
        let policy = FileHost.atOnce
        _ = try await host.api.download(at: Endpoint("/export"), to: host.target, resuming: policy, options: options)
            .file()
        #expect(host.content == bytes)
        #expect(host.ranges == ["whole", "bytes=5000- if \"v1\"", "bytes=9000- if \"v1\""])
    }

    @Test func waitsByThePolicyAndRestartsTheCountAfterProgress() async throws {
        let version = Version(content: bytes)
        let broken = { @Sendable (_: SeenRequest) in
            LoopbackResponse(
                status: 206,
                headers: [
                    ("ETag", "\"v1\""), ("Content-Range", "bytes 5000-299999/300000"),
                    ("Content-Length", "295000"), ("Connection", "close"),
                ]
            )
        }
        let host = try FileHost([
            { version.answer($0, cutAt: 5000) }, broken, { version.answer($0, cutAt: 9000) }, { version.answer($0) },
        ])
        let policy = RetryPolicy(maximumAttemptCount: 2, initialDelay: .seconds(4), random: { 0.5 })
        let clock = host.clock
        let waits = Task {
            var waits: [Duration] = []
            for _ in 0..<3 {
                waits.append(try await clock.nextSleep(within: .seconds(Int64.max)))
                clock.advance(by: waits.last ?? .zero)
            }
            return waits
        }
        _ = try await host.stream(resuming: policy).file()
        #expect(try await waits.value == [.seconds(2), .seconds(4), .seconds(2)])
        #expect(host.content == bytes)
    }

    /// Its file could not be locked if the waiting download still had it open.
    @Test func aDownloadThatWaitsToBeResumedHasNoOpenFile() async throws {
        let version = Version(content: bytes)
        let host = try FileHost([{ version.answer($0, cutAt: 5000) }, { version.answer($0) }])
        let policy = RetryPolicy(maximumAttemptCount: 2, initialDelay: .seconds(4), random: { 0.5 })
        let (clock, path) = (host.clock, host.folder.file(".export.bin.part").path(percentEncoded: false))
        let isFree = Task {
            let wait = try await clock.nextSleep(within: .seconds(Int64.max))
            let part = try FileHandle(forReadingFrom: URL(filePath: path))
            let hasLock = flock(part.fileDescriptor, LOCK_EX | LOCK_NB) == 0
            flock(part.fileDescriptor, LOCK_UN)
            try part.close()
            clock.advance(by: wait)
            return hasLock
        }
        _ = try await host.stream(resuming: policy).file()
        #expect(try await isFree.value)
        #expect(host.content == bytes)
        #expect(host.ranges == ["whole", "bytes=5000- if \"v1\""])
        #expect(host.folder.names == ["export.bin"])
    }

    @Test func requestsTheLastByteOfACompleteFileThatWasNotMoved() async throws {
        let version = Version(content: bytes)
        let host = try FileHost([{ version.answer($0) }])
        try host.leave(bytes, .init(url: "\(host.web.home)/export", validator: "\"v1\"", totalByteCount: 300_000))
        #expect(try await host.stream().file().byteCount == 300_000)
        #expect(host.ranges == ["bytes=299999- if \"v1\""])
        #expect(host.content == bytes)
    }

    @Test func keepsThePartIfTheServerFails() async throws {
        let host = try FileHost([{ _ in .status(503) }])
        try host.leave(
            Data(count: 100),
            .init(url: "\(host.web.home)/export", validator: "\"v1\"", totalByteCount: 999)
        )
        #expect(await host.failure(of: host.stream())?.kind == .unacceptableStatus)
        #expect(host.folder.data(".export.bin.part") == Data(count: 100))
        #expect(host.folder.names == [".export.bin.part", ".export.bin.part.json"])
    }

    @Test func writesNoSecretOfItsURLToTheDiskAndResumesWithAnother() async throws {
        let version = Version(content: bytes)
        let host = try FileHost([{ version.answer($0, cutAt: 5000) }, { version.answer($0) }])
        let url = try #require(URL(string: "\(host.web.home)/export?access_token=s3cr3t&day=1&key=k3y"))
        #expect(await host.failure(of: host.api.download(at: url, to: host.target, resuming: nil)) != nil)
        let record = String(decoding: try #require(host.folder.data(".export.bin.part.json")), as: UTF8.self)
        #expect(record.contains("day=1") && !record.contains("s3cr3t") && !record.contains("k3y"))
        let renewed = try #require(URL(string: "\(host.web.home)/export?access_token=0ther&day=1&key=k3y"))
        _ = try await host.api.download(at: renewed, to: host.target).file()
        #expect(host.ranges == ["whole", "bytes=5000- if \"v1\""])
    }

    @Test(
        arguments: [
            (
                "X-Amz-Date=20260601T100000Z&X-Amz-Security-Token=a&versionId=1&X-Amz-Signature=0a",
                "X-Amz-Date=20260601T110000Z&X-Amz-Security-Token=b&versionId=1&X-Amz-Signature=1b"
            ),
            ("X-Goog-Date=1&X-Goog-Signature=0a", "X-Goog-Date=2&X-Goog-Signature=1b"),
            ("Key-Pair-Id=K&Expires=1&Signature=a%2Bb", "Key-Pair-Id=K&Expires=2&Signature=c"), ("sig=a", "sig=b"),
            (
                "Policy=eyJTdGF0ZW1lbnQiOlt7fV19&Signature=nitfHRCrtziwO2HwPfWw~yY&Key-Pair-Id=K2JCJMDEHXQW5F",
                "Policy=eyJTdGF0ZW1lbnQiOlt7fX1d&Signature=Ws2Hrtz6CRCnitfH~yYwPfW&Key-Pair-Id=K2JCJMDEHXQW5F"
            ),
            (
                "sp=r&st=2026-06-01T10:00:00Z&se=2026-06-01T18:00:00Z&spr=https&sv=2024-11-04&sr=b&sig=Yy%2Fa%2Bk%3D",
                "sp=r&st=2026-06-02T10:00:00Z&se=2026-06-02T18:00:00Z&spr=https&sv=2024-11-04&sr=b&sig=Q1%2Fc%2Bd%3D"
            ),
            (
                "skoid=1&sktid=2&skt=2026-06-01T10:00:00Z&ske=2026-06-02T10:00:00Z&sks=b&skv=2024-11-04&sig=a%3D",
                "skoid=1&sktid=2&skt=2026-06-02T10:00:00Z&ske=2026-06-03T10:00:00Z&sks=b&skv=2024-11-04&sig=b%3D"
            ),
        ]
    )
    func resumesWithANewSignature(_ first: String, _ second: String) async throws {
        let version = Version(content: bytes)
        let host = try FileHost([{ version.answer($0, cutAt: 5000) }, { version.answer($0) }])
        let url = try #require(URL(string: "\(host.web.home)/export?\(first)"))
        #expect(await host.failure(of: host.api.download(at: url, to: host.target, resuming: nil)) != nil)
        let renewed = try #require(URL(string: "\(host.web.home)/export?\(second)"))
        _ = try await host.api.download(at: renewed, to: host.target).file()
        #expect(host.ranges == ["whole", "bytes=5000- if \"v1\""])
        #expect(host.content == bytes)
    }

    @Test(arguments: Wire.sockets)
    func keepsThePartIfTheLoopIsLeftOrTheTaskIsCanceled(_ wire: Wire) async throws {
        let server = try LoopbackServer { connection in
            guard let request = try connection.readRequest() else { return }
            let start = request.header("Range") == nil ? 0 : 1000
            try connection.send("HTTP/1.1 \(start == 0 ? 200 : 206) X\r\nETag: \"v1\"\r\n")
            if start > 0 { try connection.send("Content-Range: bytes \(start)-9999/10000\r\n") }
            try connection.send("Content-Length: \(10_000 - start)\r\n\r\n")
            try connection.send(Data(count: 1000))
            try connection.waitUntilPeerCloses()
        }
        let folder = try TemporaryFolder()
        let api = NetworkConnector(
            environment: Place(host: LoopbackServer.host, port: server.port),
            provider: wire.transport,
            router: Endpoint<ApiPath>.self,
            configuration: ConnectionConfiguration(timeouts: .unlimited)
        )
        let stream = api.download(at: Endpoint("/"), to: folder.file("a"))
        for try await event in stream {
            if case .progress(let progress) = event, progress.byteCount == 1000 { break }
        }
        try await server.connectionEnded(0)
        #expect(folder.data(".a.part") == Data(count: 1000))

        let arrived = Gate("second thousand")
        let loop = Task { () async throws(ApiConnectorError) -> [Int] in
            for try await event in stream {
                if case .progress(let progress) = event, progress.byteCount == 2000 { arrived.open() }
            }
            return []
        }
        try await arrived.opened()
        loop.cancel()
        let result = await loop.result
        let error = try #require(throws: ApiConnectorError.self) { try result.get() }
        #expect(error.kind == .cancelled)
        try await server.connectionEnded(1)
        #expect(server.requests.map { $0.header("Range") } == [nil, "bytes=1000-"])
        #expect(folder.data(".a.part") == Data(count: 2000))
        #expect(folder.names == [".a.part", ".a.part.json"])
    }
}
