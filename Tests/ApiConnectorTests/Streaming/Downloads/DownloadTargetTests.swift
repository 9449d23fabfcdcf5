// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorConformance
import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// The errors of the file system.
struct DownloadTargetTests {
    private typealias Version = FileHost.Version
    private let bytes = Data.counting(by: 7, byteCount: 300_000)
    private let old = Data("old".utf8)

    @Test func reportsAFullDiskAndResumesWhenThereIsSpace() async throws {
        let version = Version(content: bytes)
        let host = try FileHost([{ version.answer($0) }])
        try old.write(to: host.target)
        let full = FileCalls { descriptor, bytes, offset in
            let room = 70_000 - offset
            guard room > 0 else {
                errno = ENOSPC
                return -1
            }
            let some = UnsafeRawBufferPointer(rebasing: bytes.prefix(room))
            return FileCalls.system.write(descriptor, some, offset)
        }
        let error = await host.failure(of: host.stream(calls: full))
        #expect(error?.kind == .other)
        #expect(
            error?.detail == "the download cannot be written to \(host.target.path): No space left on device"
        )
        #expect((error?.underlying as? POSIXError)?.code == .ENOSPC)
        #expect(error?.request != nil && error?.response?.status == 200)
        #expect(host.content == old)
        #expect(host.folder.data(".export.bin.part") == bytes.prefix(70_000))
        // Not resumed by itself: the disk is no server.
        #expect(host.ranges == ["whole"])

        _ = try await host.stream().file()
        #expect(host.content == bytes)
        #expect(host.ranges == ["whole", "bytes=70000- if \"v1\""])
    }

    /// A process that another thread is starting has a copy of each descriptor until it runs its program.
    @Test func aDownloadThatHasEndedKeepsNoLockThroughACopyOfItsDescriptor() async throws {
        let version = Version(content: bytes)
        let host = try FileHost([{ version.answer($0) }])
        let copies = Locked<[Int32]>([])
        let copying = FileCalls { descriptor, bytes, offset in
            if offset == 0 {
                return FileCalls.system.write(descriptor, UnsafeRawBufferPointer(rebasing: bytes.prefix(777)), offset)
            }
            let copy = dup(descriptor)
            copies.withLock { $0.append(copy) }
            errno = ENOSPC
            return -1
        }
        #expect(await host.failure(of: host.stream(calls: copying))?.kind == .other)
        _ = try await host.stream().file()
        #expect(host.content == bytes)
        for copy in copies.withLock({ $0 }) { close(copy) }
    }

    /// Another process removes the part, and its own file may have the name afterwards.
    @Test(arguments: [false, true])
    func aPartThatIsReplacedIsNotMovedToTheTarget(_ isRemoved: Bool) async throws {
        let version = Version(content: bytes, etag: nil)
        let host = try FileHost([{ version.answer($0) }])
        try old.write(to: host.target)
        let (part, other) = (host.folder.file(".export.bin.part"), Data("another's".utf8))
        let calls = FileCalls { descriptor, bytes, offset in
            if offset == 0 {
                unlink(part.path(percentEncoded: false))
                if !isRemoved { try? other.write(to: part) }
            }
            return FileCalls.system.write(descriptor, bytes, offset)
        }
        let error = await host.failure(of: host.stream(calls: calls))
        #expect(error?.kind == .other)
        #expect(
            error?.detail == "the download cannot be written to \(host.target.path): its part file \(part.path) was "
                + "moved, removed or replaced during the download"
        )
        #expect(host.ranges == ["whole"])
        #expect(host.content == old)
        #expect(host.folder.data(".export.bin.part") == (isRemoved ? nil : other))
    }

    /// A later run would append to the other part.
    @Test func theRecordDoesNotStayNextToAnotherPart() async throws {
        let version = Version(content: bytes)
        let host = try FileHost([{ version.answer($0) }, { version.answer($0) }])
        let part = host.folder.file(".export.bin.part")
        let calls = FileCalls { descriptor, bytes, offset in
            if offset == 0 {
                unlink(part.path(percentEncoded: false))
                try? Data("another's".utf8).write(to: part)
            }
            return FileCalls.system.write(descriptor, bytes, offset)
        }
        let error = await host.failure(of: host.stream(calls: calls))
        #expect(error?.kind == .other)
        #expect(host.folder.names == [".export.bin.part"])
        _ = try await host.stream().file()
        #expect(host.content == bytes)
        #expect(host.ranges == ["whole", "whole"])
    }

    @Test func aRecordIsNotWrittenNextToAnotherPart() async throws {
        let folder = try TemporaryFolder()
        let part = try PartFile(of: folder.file("a"), from: "http://api.example.com/a")
        #expect(try part.open())
        try FileManager.default.removeItem(at: folder.file(".a.part"))
        _ = try folder.write(old, to: ".a.part")
        let record = DownloadRecord(url: "http://api.example.com/a", validator: "\"v1\"", totalByteCount: nil)
        let error = await #expect(throws: ApiConnectorError.self) { try await part.begin(record) }
        #expect(error?.detail.hasSuffix("was moved, removed or replaced during the download") == true)
        part.release()
        #expect(folder.names == [".a.part"])
        #expect(folder.data(".a.part") == old)
    }

    @Test func continuesWritingAfterAnInterruptedCall() async throws {
        let version = Version(content: bytes)
        let host = try FileHost([{ version.answer($0) }])
        let isInterrupted = Locked(false)
        let calls = FileCalls { descriptor, bytes, offset in
            let isNow = isInterrupted.withLock { isInterrupted in
                isInterrupted.toggle()
                return isInterrupted
            }
            guard isNow else {
                return FileCalls.system.write(descriptor, UnsafeRawBufferPointer(rebasing: bytes.prefix(777)), offset)
            }
            errno = EINTR
            return -1
        }
        _ = try await host.stream(calls: calls).file()
        #expect(host.content == bytes)
    }

    @Test func refusesATargetThatCannotBeWrittenBeforeAnythingIsSent() async throws {
        let host = try FileHost([{ _ in .status(200) }])
        let folder = host.folder
        try FileManager.default.createDirectory(at: folder.file("folder"), withIntermediateDirectories: false)
        let plain = try folder.write(old, to: "plain")
        #expect(symlink("/etc/passwd", folder.file(".linked.part").path) == 0)
        #expect(mkfifo(folder.file(".piped.part").path, 0o600) == 0)
        let web = try #require(URL(string: "http://example.com/a"))
        for (target, reason) in [
            (folder.file("folder"), "it is a directory"), (URL(filePath: "/"), "it is a directory"),
            (folder.file("none/a"), "No such file or directory"), (plain.appending(path: "a"), "Not a directory"),
            (folder.file("linked"), "Too many levels of symbolic links"),
            (
                folder.file("piped"),
                "exists and is not a regular file"
            ),
            (folder.file(String(repeating: "a", count: 256)), "File name too long"), (web, "it is not a file URL"),
        ] {
            let error = await host.failure(of: host.api.download(at: Endpoint("/"), to: target))
            #expect(error?.kind == .other)
            let detail = error?.detail ?? ""
            #expect(detail.hasPrefix("the download cannot be written to \(target.path)"), "\(detail)")
            #expect(detail.hasSuffix(reason), "\(detail)")
            #expect(error?.request != nil)
        }
        #expect(host.web.requests.isEmpty)
        #expect(folder.names == [".linked.part", ".piped.part", "folder", "plain"])
    }

    @Test func refusesASecondDownloadToTheSameFile() async throws {
        let feed = BodyFeed()
        let folder = try TemporaryFolder()
        let api = NetworkConnector(
            environment: Place(),
            provider: TestConnector { _ in .feed(feed, headers: ["ETag": "\"v1\""]) },
            router: Endpoint<ApiPath>.self,
            configuration: ConnectionConfiguration(timeouts: .unlimited)
        )
        let stream = api.download(at: Endpoint("/"), to: folder.file("a"))
        let first = Task { () async throws(ApiConnectorError) in try await stream.file() }
        try await feed.send(Data("one ".utf8))
        let error = await #expect(throws: ApiConnectorError.self) { try await stream.file() }
        #expect(error?.kind == .other)
        #expect(error?.detail.hasSuffix("/a: another download to it is running") == true)
        try await feed.send(Data("two".utf8))
        feed.finish()
        #expect(try await first.value.byteCount == 7)
        #expect(folder.data("a") == Data("one two".utf8))
        #expect(folder.names == ["a"])
    }

    @Test func releasesItsLockHoweverItEnds() async throws {
        let version = Version(content: bytes)
        let host = try FileHost([
            { version.answer($0, cutAt: 100) }, { _ in .status(500) }, { version.answer($0) }, { version.answer($0) },
        ])
        #expect(await host.failure(of: host.stream(resuming: nil))?.kind == .connectionLost)
        #expect(await host.failure(of: host.stream(resuming: nil))?.kind == .unacceptableStatus)
        for try await _ in host.stream() { break }
        _ = try await host.stream().file()
        #expect(host.content == bytes)
    }

    @Test func aDownloadThatStartsOverHasNoByteOfTheOldOne() async throws {
        let folder = try TemporaryFolder()
        let part = try PartFile(of: folder.file("export.bin"), from: "http://api.example.com/export.bin")
        #expect(try part.open())
        try part.append(bytes)
        try await part.begin(nil)
        try await part.finish(0)
        #expect(folder.data("export.bin") == Data())
    }

    /// The threads that run tasks also run the calls.
    @Test func aDownloadThatStartsOverWaitsForTheDiskOnItsOwnThread() async throws {
        let folder = try TemporaryFolder()
        let writesInTasks = Locked<[Bool]>([])
        let calls = FileCalls { descriptor, bytes, offset in
            let isInTask = withUnsafeCurrentTask { $0 != nil }
            writesInTasks.withLock { $0.append(isInTask) }
            return FileCalls.system.write(descriptor, bytes, offset)
        }
        let part = try PartFile(of: folder.file("a"), from: "http://api.example.com/a", calls: calls)
        #expect(try part.open())
        try part.append(bytes)
        try await part.begin(
            DownloadRecord(url: "http://api.example.com/a", validator: "\"v1\"", totalByteCount: nil)
        )
        part.release()
        #expect(writesInTasks.withLock { $0 } == [true, false])
    }

    /// A name needs no room for the ending of the part file.
    @Test(arguments: [240, 244, 245, 249, 250, 255]) func aNameMayBeAsLongAsTheFileSystemAllows(_ byteCount: Int)
        async throws
    {
        let version = Version(content: bytes)
        let host = try FileHost([{ version.answer($0, cutAt: 5000) }, { version.answer($0) }])
        for letter in ["a", "é"] {
            let name = String(repeating: letter, count: byteCount / letter.utf8.count)
            let target = host.folder.file(name)
            if letter == "a" {
                #expect(
                    await host.failure(of: host.api.download(at: Endpoint("/export"), to: target, resuming: nil)) != nil
                )
                #expect(host.folder.names.count == 2)
            }
            _ = try await host.api.download(at: Endpoint("/export"), to: target).file()
            #expect(host.folder.names == [name])
            #expect(host.folder.data(name) == bytes)
            try FileManager.default.removeItem(at: target)
        }
        #expect(host.ranges == ["whole", "bytes=5000- if \"v1\"", "whole"])
    }

    @Test func writesThroughASymbolicLink() async throws {
        let version = Version(content: bytes)
        let host = try FileHost([{ version.answer($0) }])
        let folder = host.folder
        try FileManager.default.createDirectory(at: folder.file("inner"), withIntermediateDirectories: false)
        _ = try folder.write(old, to: "inner/there")
        let path = folder.url.path(percentEncoded: false)
        for (link, destination, end) in [
            ("absolute", "\(path)/inner/there", "inner/there"), ("relative", "inner/there", "inner/there"),
            ("chain", "relative", "inner/there"), ("dangling", "inner/new", "inner/new"),
        ] {
            #expect(symlink(destination, folder.file(link).path) == 0)
            let done = try await host.api.download(at: Endpoint("/"), to: folder.file(link)).file()
            #expect(done.file == folder.file(link))
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.file(link).path) == destination)
            #expect(folder.data(end) == bytes)
            _ = try folder.write(old, to: "inner/there")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("inner").path).count == 2)
        #expect(folder.names == ["absolute", "chain", "dangling", "inner", "relative"])
    }

    @Test func keepsThePermissionsOfTheFileThatItReplaces() async throws {
        let version = Version(content: bytes)
        let host = try FileHost([{ version.answer($0) }])
        func mode(_ name: String) throws -> Int {
            let path = host.folder.file(name).path
            return try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
        }
        for expected in [0o600, 0o640, 0o400, 0o755] {
            try? FileManager.default.removeItem(at: host.target)
            try old.write(to: host.target)
            #expect(chmod(host.target.path, mode_t(expected)) == 0)
            var partModes: Set<Int> = []
            for try await event in host.stream() {
                if case .progress = event { partModes.insert(try mode(".export.bin.part")) }
            }
            #expect(partModes == [expected | 0o600])
            #expect(try mode("export.bin") == expected)
            #expect(host.content == bytes)
        }
    }

    @Test func refusesATargetThatIsNoRegularFileBeforeAnythingIsSent() async throws {
        let host = try FileHost([{ _ in .status(200) }])
        let folder = host.folder
        #expect(mkfifo(folder.file("pipe").path, 0o600) == 0)
        #expect(symlink("/dev/null", folder.file("device").path) == 0)
        #expect(symlink("pipe", folder.file("link").path) == 0)
        #expect(symlink("loop", folder.file("loop").path) == 0)
        let regular = "it exists and is not a regular file"
        let names = folder.names
        for (target, reason) in [
            (folder.file("pipe"), regular), (folder.file("device"), regular), (folder.file("link"), regular),
            (folder.file("loop"), "Too many levels of symbolic links"),
            (URL(filePath: folder.url.path(percentEncoded: false) + "/new/"), "its path ends with a slash"),
        ] {
            let error = await host.failure(of: host.api.download(at: Endpoint("/"), to: target))
            #expect(error?.kind == .other)
            #expect(error?.detail.hasSuffix(": \(reason)") == true, "\(error?.detail ?? "no error")")
        }
        #expect(host.web.requests.isEmpty)
        #expect(folder.names == names)
    }

    @Test(arguments: [ENOSYS, EOPNOTSUPP, ENOLCK])
    func downloadsToAFileSystemWithoutLocks(_ code: Int32) async throws {
        let version = Version(content: bytes)
        let host = try FileHost([
            { version.answer($0, cutAt: 5000) }, { version.answer($0) }, { version.answer($0, cutAt: 5000) },
        ])
        var calls = FileCalls.system
        calls.lock = { _ in
            errno = code
            return -1
        }
        _ = try await host.stream(calls: calls).file()
        #expect(host.content == bytes)
        #expect(host.folder.names == ["export.bin"])
        #expect(host.ranges == ["whole", "bytes=5000- if \"v1\""])
        // A later call could not know whether this one still runs.
        #expect(await host.failure(of: host.stream(resuming: nil, calls: calls))?.kind == .connectionLost)
        #expect(host.folder.names == ["export.bin"])
    }

    @Test func triesAgainAfterAnInterruptedLock() async throws {
        let version = Version(content: bytes)
        let host = try FileHost([{ version.answer($0) }])
        let count = Locked(0)
        var calls = FileCalls.system
        calls.lock = { descriptor in
            let number = count.withLock { count in
                count += 1
                return count
            }
            guard number % 2 == 1 else { return FileCalls.system.lock(descriptor) }
            errno = EINTR
            return -1
        }
        _ = try await host.stream(calls: calls).file()
        #expect(host.content == bytes)
        #expect(count.withLock { $0 } == 4)
    }
}
