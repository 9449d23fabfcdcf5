// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector

@Suite struct ResumedDownloadTests {
    private typealias Version = FileHost.Version
    private let bytes = Data.counting(by: 7, byteCount: 300_000)
    private let old = Data("old".utf8)
    private static let day = "Mon, 01 Jun 2026 10:00:00 GMT"

    @Test(arguments: Wire.allCases)
    func goesOnAfterABreakWithinTheCall(_ wire: Wire) async throws {
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

    /// The second host's connection is another one, as it would be in another process.
    @Test(arguments: Wire.allCases)
    func goesOnWhereAnEarlierRunHasEnded(_ wire: Wire) async throws {
        let version = Version(content: bytes)
        let first = try FileHost(over: wire, [{ version.answer($0, cutAt: 123_456) }])
        try old.write(to: first.target)
        let error = await first.failure(of: first.stream(resuming: nil))
        #expect(error?.kind == .connectionLost)
        #expect(first.content == old)
        #expect(first.folder.names == [".export.bin.part", ".export.bin.part.json", "export.bin"])
        #expect(first.folder.data(".export.bin.part") == bytes.prefix(123_456))

        let second = try FileHost(over: wire, in: first.folder, [{ version.answer($0) }])
        // The same URL, whatever port the second server has got.
        try second.rename(.init(url: "\(second.web.home)/export", validator: "\"v1\"", totalByteCount: 300_000))
        var counts: [Int] = []
        for try await event in second.stream() {
            if case .progress(let progress) = event { counts.append(progress.byteCount) }
        }
        #expect(counts.allSatisfy { $0 > 123_456 } && counts.last == 300_000)
        #expect(second.content == bytes)
        #expect(second.ranges == ["bytes=123456- if \"v1\""])
        #expect(second.folder.names == ["export.bin"])
    }

    /// Each is an answer to a request for the rest that is not the rest.
    @Test(arguments: Wire.allCases, [0, 1, 2, 3, 4, 5, 6, 7, 8])
    func beginsAnewWhereTheRestIsNotToBeHad(_ wire: Wire, _ number: Int) async throws {
        let version = Version(content: bytes)
        let new = Version(content: Data.counting(by: 3, byteCount: 250_000), etag: "\"v2\"")
        var moved = version.rest(from: 100_000)
        moved.headers[1].value = "bytes 100001-299999/300000"
        var silent = version.rest(from: 100_000)
        silent.headers.remove(at: 1)
        var longer = version.rest(from: 100_000)
        longer.headers[1].value = "bytes 100000-299999/300001"
        var coded = version.rest(from: 100_000)
        coded.headers.append((name: "Content-Encoding", value: "x-own"))
        let other = Version(content: bytes, etag: "\"v2\"").rest(from: 100_000)
        let answers = [
            new.whole(), version.whole(), moved, silent, longer, coded, new.rest(from: 100_000),
            LoopbackResponse(status: 416, headers: [("Content-Range", "bytes */250000")]), other,
        ]
        let answer = answers[number]
        let host = try FileHost(
            over: wire,
            [
                { version.answer($0, cutAt: 100_000) }, { _ in answer }, { _ in new.whole() },
            ]
        )
        let file = try await host.stream().file()
        #expect(host.content == (number == 1 ? bytes : new.content))
        #expect(file.head.status == 200)
        let asked = ["whole", "bytes=100000- if \"v1\""] + (number < 2 ? [] : ["whole"])
        #expect(host.ranges == asked)
        #expect(host.folder.names == ["export.bin"])
    }

    @Test(
        arguments: Wire.allCases,
        [
            Version(content: Data(count: 9000), etag: nil), Version(content: Data(count: 9000), etag: "W/\"v1\""),
            Version(content: Data(count: 9000), etag: "v1"),
            Version(content: Data(count: 9000), etag: nil, lastModified: day, more: [("Date", day)]),
            Version(content: Data(count: 9000), etag: nil, lastModified: day),
            Version(content: Data(count: 9000), more: [("Accept-Ranges", "none")]),
        ]
    )
    func keepsNothingThatCannotBeResumed(_ wire: Wire, _ version: FileHost.Version) async throws {
        let host = try FileHost(over: wire, [{ version.answer($0, cutAt: 5000) }])
        try old.write(to: host.target)
        let error = await host.failure(of: host.stream())
        #expect(error?.kind == .connectionLost, "\(String(describing: error))")
        #expect(host.ranges == ["whole"])
        #expect(host.content == old)
        #expect(host.folder.names == ["export.bin"])
    }

    @Test(arguments: Wire.allCases)
    func goesByADateThatIsOlderThanItsResponse(_ wire: Wire) async throws {
        let later = "Mon, 01 Jun 2026 10:00:01 GMT"
        let version = Version(content: bytes, etag: nil, lastModified: Self.day, more: [("Date", later)])
        let host = try FileHost(over: wire, [{ version.answer($0, cutAt: 5000) }, { version.answer($0) }])
        _ = try await host.stream().file()
        #expect(host.content == bytes)
        #expect(host.ranges == ["whole", "bytes=5000- if \(Self.day)"])
    }

    @Test func resumesNoOtherMethodThanGET() async throws {
        let version = Version(content: bytes)
        let host = try FileHost([{ version.answer($0, cutAt: 5000) }])
        let endpoint = Endpoint<ApiPath>(path: "/", method: .post)
        let error = await host.failure(of: host.api.download(at: endpoint, to: host.target))
        #expect(error?.kind == .connectionLost)
        #expect(host.ranges == ["whole"])
        #expect(host.folder.names == [])
    }

    @Test func repeatsNoPostThatARedirectMadeAGetOf() async throws {
        let version = Version(content: bytes)
        let redirect = LoopbackResponse(status: 303, headers: [("Location", "/there")])
        let host = try FileHost([{ _ in redirect }, { version.answer($0, cutAt: 5000) }])
        let endpoint = Endpoint<ApiPath>(path: "/", method: .post)
        let error = await host.failure(of: host.api.download(at: endpoint, to: host.target))
        #expect(error?.kind == .connectionLost)
        #expect(host.web.requests.map(\.method) == ["POST", "GET"])
        #expect(host.folder.names == [])
    }

    @Test func goesOnWithNoPartOfAnotherMethod() async throws {
        let version = Version(content: bytes)
        let host = try FileHost([{ version.answer($0) }])
        try host.leave(Data(count: 100), .init(url: "\(host.web.home)/", validator: "\"v1\"", totalByteCount: 300_000))
        let endpoint = Endpoint<ApiPath>(path: "/", method: .post)
        _ = try await host.api.download(at: endpoint, to: host.target).file()
        #expect(host.ranges == ["whole"])
        #expect(host.content == bytes)
    }

    /// Bytes that were decoded cannot be counted by the server.
    @Test(arguments: Wire.sockets)
    func resumesNoBodyThatCameCompressed(_ wire: Wire) async throws {
        // gzip of "hello".
        let packed = Data([31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 72, 205, 201, 201, 7, 0, 134, 166, 16, 54, 5, 0, 0, 0])
        let version = Version(content: packed, more: [("Content-Encoding", "gzip")])
        let host = try FileHost(over: wire, [{ version.answer($0) }, { version.answer($0, cutAt: 20) }])
        for try await event in host.stream() {
            guard case .progress(let progress) = event else { continue }
            #expect(progress.totalByteCount == nil)
        }
        #expect(host.content == Data("hello".utf8))
        let error = await host.failure(of: host.stream())
        #expect(error != nil)
        #expect(host.ranges == ["whole", "whole"])
        #expect(host.folder.names == ["export.bin"])
    }

    @Test func givesUpWhereEachAttemptEndsAtTheSamePlace() async throws {
        let version = Version(content: bytes)
        // It has an entity tag and takes no notice of ranges.
        let host = try FileHost([{ _ in version.whole(cutAt: 5000) }])
        let error = await host.failure(of: host.stream())
        #expect(error?.kind == .connectionLost)
        #expect(host.ranges.count == 4)
        #expect(host.folder.names == [".export.bin.part", ".export.bin.part.json"])
    }

    @Test func takesTheRestWhereTheCallAcceptsNothingButStatus200() async throws {
        let version = Version(content: bytes)
        let host = try FileHost([{ version.answer($0, cutAt: 5000) }, { version.answer($0) }])
        let options = CallOptions(validation: .status(200))
        let policy = FileHost.atOnce
        _ = try await host.api.download(at: Endpoint("/export"), to: host.target, resuming: policy, options: options)
            .file()
        #expect(host.content == bytes)
        #expect(host.ranges == ["whole", "bytes=5000- if \"v1\""])
    }

    @Test func beginsAnewWhereNobodySaysThatAPartReachesToTheEnd() async throws {
        let version = Version(content: bytes)
        let part = LoopbackResponse(
            status: 206,
            headers: [("ETag", "\"v1\""), ("Content-Range", "bytes 500-999/*"), ("Content-Length", "500")],
            body: bytes[500..<1000]
        )
        let host = try FileHost([{ _ in part }, { version.answer($0) }])
        let record = DownloadRecord(url: "\(host.web.home)/export", validator: "\"v1\"", totalByteCount: nil)
        try host.leave(bytes.prefix(500), record)
        #expect(try await host.stream().file().byteCount == 300_000)
        #expect(host.ranges == ["bytes=500- if \"v1\"", "whole"])
        #expect(host.content == bytes)
    }

    @Test func waitsAsThePolicySaysAndCountsAnewWhenItGetsFurther() async throws {
        let version = Version(content: bytes)
        let broken = { @Sendable (_: SeenRequest) in
            LoopbackResponse(
                status: 206,
                headers: [
                    ("Content-Range", "bytes 5000-299999/300000"), ("Content-Length", "295000"),
                    ("Connection", "close"),
                ]
            )
        }
        let host = try FileHost([
            { version.answer($0, cutAt: 5000) }, broken, { version.answer($0, cutAt: 9000) }, { version.answer($0) },
        ])
        let policy = ResumePolicy(maximumAttemptCount: 2, initialDelay: .seconds(4), random: { 0.5 })
        let clock = host.clock
        let waits = Task {
            var waits: [Duration] = []
            for _ in 0..<3 {
                waits.append(try await clock.nextSleep())
                clock.advance(by: waits.last ?? .zero)
            }
            return waits
        }
        _ = try await host.stream(resuming: policy).file()
        #expect(try await waits.value == [.seconds(2), .seconds(4), .seconds(2)])
        #expect(host.content == bytes)
    }

    @Test func asksForTheLastByteOfAFileThatWasWholeButNotMoved() async throws {
        let version = Version(content: bytes)
        let host = try FileHost([{ version.answer($0) }])
        try host.leave(bytes, .init(url: "\(host.web.home)/export", validator: "\"v1\"", totalByteCount: 300_000))
        #expect(try await host.stream().file().byteCount == 300_000)
        #expect(host.ranges == ["bytes=299999- if \"v1\""])
        #expect(host.content == bytes)
    }

    @Test func trustsNoRecordThatItCannotReadOrThatIsAboutSomethingElse() async throws {
        let version = Version(content: bytes)
        for record in [
            nil, DownloadRecord(url: "http://other/", validator: "\"v1\"", totalByteCount: 300_000),
            DownloadRecord(url: "/export", validator: "\"v1\"", totalByteCount: 99),
        ] {
            let host = try FileHost([{ version.answer($0) }])
            let home = host.web.home
            let own = record.map {
                DownloadRecord(
                    url: $0.url == "/export" ? home + $0.url : $0.url,
                    validator: $0.validator,
                    totalByteCount: $0.totalByteCount
                )
            }
            try host.leave(Data(count: 100), own)
            _ = try await host.stream().file()
            #expect(host.ranges == ["whole"])
            #expect(host.content == bytes)
            #expect(host.folder.names == ["export.bin"])
        }
    }

    @Test func keepsWhatIsThereWhenTheServerFailsToGoOn() async throws {
        let host = try FileHost([{ _ in .status(503) }])
        try host.leave(
            Data(count: 100),
            .init(url: "\(host.web.home)/export", validator: "\"v1\"", totalByteCount: 999)
        )
        #expect(await host.failure(of: host.stream())?.kind == .unacceptableStatus)
        #expect(host.folder.data(".export.bin.part") == Data(count: 100))
        #expect(host.folder.names == [".export.bin.part", ".export.bin.part.json"])
    }

    @Test func writesNoSecretOfItsURLToTheDiskAndGoesOnWithAnother() async throws {
        let version = Version(content: bytes)
        let host = try FileHost([{ version.answer($0, cutAt: 5000) }, { version.answer($0) }])
        let url = try #require(URL(string: "\(host.web.home)/export?access_token=s3cr3t&day=1"))
        #expect(await host.failure(of: host.api.download(at: url, to: host.target, resuming: nil)) != nil)
        let record = String(decoding: try #require(host.folder.data(".export.bin.part.json")), as: UTF8.self)
        #expect(record.contains("day=1") && !record.contains("s3cr3t"))
        let renewed = try #require(URL(string: "\(host.web.home)/export?access_token=0ther&day=1"))
        _ = try await host.api.download(at: renewed, to: host.target).file()
        #expect(host.ranges == ["whole", "bytes=5000- if \"v1\""])
    }

    @Test(arguments: Wire.sockets)
    func keepsItsPartWhenTheLoopIsLeftOrTheTaskIsCancelled(_ wire: Wire) async throws {
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
            environment: Place(host: "127.0.0.1", port: server.port),
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

extension FileHost {
    /// Puts another record beside the part that is there.
    func rename(_ record: DownloadRecord) throws {
        try JSONEncoder().encode(record).write(to: folder.file(".export.bin.part.json"))
    }

    /// Puts a part there, with its record or with something that is none.
    func leave(_ part: Data, _ record: DownloadRecord?) throws {
        try part.write(to: folder.file(".export.bin.part"))
        if let record { try rename(record) } else { try Data("{".utf8).write(to: folder.file(".export.bin.part.json")) }
    }
}
