// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorConformance
import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// Downloads that start over or end, because what is there cannot be gone on with.
struct UnresumableDownloadTests {
    private typealias Version = FileHost.Version
    private let bytes = Data.counting(by: 7, byteCount: 300_000)
    private let old = Data("old".utf8)
    private static let day = "Mon, 01 Jun 2026 10:00:00 GMT"

    /// Each is an answer to a request for the rest that is not the rest.
    @Test(arguments: Wire.allCases, Array(0..<11))
    func startsAgainIfTheRestIsNotAvailable(_ wire: Wire, _ number: Int) async throws {
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
        let untagged = Version(content: bytes, etag: nil).rest(from: 100_000)
        let unquoted = Version(content: bytes, etag: "v1").rest(from: 100_000)
        let answers = [
            new.whole(), version.whole(), moved, silent, longer, coded, new.rest(from: 100_000),
            LoopbackResponse(status: 416, headers: [("Content-Range", "bytes */250000")]), other, untagged,
            unquoted,
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

    @Test func startsAgainIfAPartMayNotReachTheEnd() async throws {
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

    @Test func startsAgainIfTheRestHasAnotherDate() async throws {
        let later = "Mon, 01 Jun 2026 10:00:01 GMT"
        let version = Version(content: bytes, etag: nil, lastModified: Self.day, more: [("Date", later)])
        let other = Version(content: bytes, etag: nil, lastModified: later).rest(from: 5000)
        let host = try FileHost([{ version.answer($0, cutAt: 5000) }, { _ in other }, { version.answer($0) }])
        _ = try await host.stream().file()
        #expect(host.ranges == ["whole", "bytes=5000- if \(Self.day)", "whole"])
        #expect(host.content == bytes)
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
    func keepsNoPartThatCannotBeResumed(_ wire: Wire, _ version: FileHost.Version) async throws {
        let host = try FileHost(over: wire, [{ version.answer($0, cutAt: 5000) }])
        try old.write(to: host.target)
        let error = await host.failure(of: host.stream())
        #expect(error?.kind == .connectionLost, "\(String(describing: error))")
        #expect(host.ranges == ["whole"])
        #expect(host.content == old)
        #expect(host.folder.names == ["export.bin"])
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

    @Test func doesNotRepeatAPostThatARedirectChangedToAGet() async throws {
        let version = Version(content: bytes)
        let redirect = LoopbackResponse(status: 303, headers: [("Location", "/there")])
        let host = try FileHost([{ _ in redirect }, { version.answer($0, cutAt: 5000) }])
        let endpoint = Endpoint<ApiPath>(path: "/", method: .post)
        let error = await host.failure(of: host.api.download(at: endpoint, to: host.target))
        #expect(error?.kind == .connectionLost)
        #expect(host.web.requests.map(\.method) == ["POST", "GET"])
        #expect(host.folder.names == [])
    }

    /// The record has none of the secrets, but the file has to be the one that they name.
    ///
    /// The origin is always the same, so the checksums are the same in each run.
    @Test(
        arguments: [
            ("/export?key=a.bin", "/export?key=b.bin"), ("/export?code=17&day=1", "/export?code=18&day=1"),
            ("/export?pageToken=a&sig=1", "/export?pageToken=b&sig=1"), ("/export?se=1", "/export?se=2"),
            ("/export?Policy=a", "/export?Policy=b"), ("/export?Policy=a&sig=1", "/export?Policy=b&sig=1"),
            ("/export?token=a", "/export?token=b"),
            ("/0123456789abcdef0123456789abcdef", "/0123456789abcdef0123456789abcdee"),
        ]
    )
    func doesNotResumeAPartWithAnotherSecretInItsURL(_ first: String, _ second: String) async throws {
        let version = Version(content: bytes)
        let new = Version(content: Data.counting(by: 3, byteCount: 300_000))
        let host = try FileHost(over: .testConnector, [{ version.answer($0, cutAt: 5000) }, { new.answer($0) }])
        let url = try #require(URL(string: host.web.home + first))
        #expect(await host.failure(of: host.api.download(at: url, to: host.target, resuming: nil)) != nil)
        let other = try #require(URL(string: host.web.home + second))
        _ = try await host.api.download(at: other, to: host.target).file()
        #expect(host.ranges == ["whole", "whole"])
        #expect(host.content == new.content)
    }

    @Test func doesNotResumeAPartOfAnotherMethod() async throws {
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
    func doesNotResumeACompressedBody(_ wire: Wire) async throws {
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

    @Test func givesUpIfEachAttemptEndsAtTheSamePlace() async throws {
        let version = Version(content: bytes)
        // It has an entity tag and takes no notice of ranges.
        let host = try FileHost([{ _ in version.whole(cutAt: 5000) }])
        let error = await host.failure(of: host.stream())
        #expect(error?.kind == .connectionLost)
        #expect(host.ranges.count == 4)
        #expect(host.folder.names == [".export.bin.part", ".export.bin.part.json"])
    }

    @Test(arguments: [0, 1]) func ignoresARecordOfMoreThan64KiB(_ excess: Int) async throws {
        let version = Version(content: bytes)
        let host = try FileHost([{ version.answer($0) }])
        let record = DownloadRecord(
            url: "\(host.web.home)/export",
            validator: "\"v1\"",
            totalByteCount: version.content.count
        )
        try host.leave(bytes.prefix(500), record)
        let note = host.folder.file(".export.bin.part.json")
        let data = try Data(contentsOf: note)
        // White space after the JSON text changes nothing.
        try (data + Data(repeating: 0x20, count: 64 * 1024 - data.count + excess)).write(to: note)
        _ = try await host.stream().file()
        #expect(host.content == bytes)
        #expect(host.ranges == [excess == 0 ? "bytes=500- if \"v1\"" : "whole"])
    }

    @Test func ignoresARecordThatIsNotARegularFile() async throws {
        let version = Version(content: bytes)
        for isPipe in [false, true] {
            let host = try FileHost([{ version.answer($0) }])
            let record = DownloadRecord(url: "\(host.web.home)/export", validator: "\"v1\"", totalByteCount: nil)
            try host.leave(bytes.prefix(500), record)
            let note = host.folder.file(".export.bin.part.json")
            try FileManager.default.moveItem(at: note, to: host.folder.file("elsewhere"))
            let path = note.path(percentEncoded: false)
            #expect((isPipe ? mkfifo(path, 0o600) : symlink("elsewhere", path)) == 0)
            _ = try await host.stream().file()
            #expect(host.content == bytes)
            #expect(host.ranges == ["whole"])
            #expect(host.folder.names == ["elsewhere", "export.bin"])
        }
    }

    #if os(Linux)
    @Test func doesNotWaitForALeaseOnTheRecord() async throws {
        let version = Version(content: bytes)
        let host = try FileHost([{ version.answer($0) }])
        let record = DownloadRecord(url: "\(host.web.home)/export", validator: "\"v1\"", totalByteCount: nil)
        try host.leave(bytes.prefix(500), record)
        let lease = try FileLease(on: host.folder.file(".export.bin.part.json"))
        _ = try await host.stream().file()
        lease.end()
        #expect(host.content == bytes)
        #expect(host.ranges == ["whole"])
    }

    @Test func refusesAPartWithALease() async throws {
        let host = try FileHost([{ _ in .status(200) }])
        try host.leave(bytes.prefix(500), nil)
        let lease = try FileLease(on: host.folder.file(".export.bin.part"))
        let error = await host.failure(of: host.stream())
        #expect(error?.kind == .other)
        #expect(error?.detail.hasSuffix("/export.bin: another process has a lease on its part file") == true)
        #expect(lease.isHeld)
        #expect(host.web.requests.isEmpty)
    }
    #endif

    @Test func ignoresAnInvalidRecordAndOneOfAnotherDownload() async throws {
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
}
