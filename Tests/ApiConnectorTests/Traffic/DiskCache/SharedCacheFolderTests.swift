// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// Several processes that share a folder, some of which are killed.
@Suite(.timeLimit(.minutes(10))) struct SharedCacheFolderTests: CacheFolderSuite {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }
}

extension SharedCacheFolderTests {
    private func lock() throws -> Int32 {
        let descriptor = open(folder.file(CacheFolderLock.name).path(percentEncoded: false), O_RDWR | O_CLOEXEC)
        return try #require(descriptor >= 0 ? descriptor : nil)
    }

    @Test func aLockPreventsConcurrentChangesOfARecord() async throws {
        let (writing, gate) = (Gate("it writes"), Gate("the disk"))
        let slow = CacheFileCalls { descriptor, bytes, offset in
            writing.open()
            gate.block()
            return pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset))
        }
        let other = disk()
        let storage = disk(calls: slow)
        storage.update(key(1)) { _ in Data("one".utf8) }
        try await writing.opened()
        let lock = try lock()
        defer { close(lock) }
        for kind in [LOCK_EX, LOCK_SH] { #expect(flock(lock, kind | LOCK_NB) != 0) }
        other.update(key(1)) { _ in nil }
        gate.open()
        for storage in [storage, other] { try await storage.finishWrites() }
        #expect(await disk().record(for: key(1)) == nil)
        await eventually { flock(lock, LOCK_EX | LOCK_NB) == 0 }
    }

    @Test(arguments: [false, true]) func removesARecordThatAnotherProcessIsReplacing(all: Bool) async throws {
        let storage = disk()
        try await storage.store("one", for: key(1))
        let lock = try lock()
        // The storage releases the lock after the change.
        await eventually { flock(lock, LOCK_EX | LOCK_NB) == 0 }
        if all { storage.removeAll() } else { storage.update(key(1)) { _ in nil } }
        for _ in 0..<1000 { await Task.yield() }
        // The other process's change of the record that it had read.
        let file = try folder.write(CacheFile.bytes(of: Data("two".utf8), for: key(1)), to: "other")
        let place = folder.file(CacheFile.name(of: key(1)))
        #expect(rename(file.path(percentEncoded: false), place.path(percentEncoded: false)) == 0)
        flock(lock, LOCK_UN)
        close(lock)
        #expect(await storage.record(for: key(1)) == nil)
        try await storage.finishWrites()
        #expect(await storage.record(for: key(1)) == nil)
    }

    @Test func storesNothingWithoutALock() async throws {
        #expect(mkdir(folder.file(CacheFolderLock.name).path(percentEncoded: false), 0o700) == 0)
        let storage = disk()
        for (number, change) in [nil, Data("two".utf8)].enumerated() {
            let bytes = CacheFile.bytes(of: Data("one".utf8), for: key(number))
            _ = try folder.write(bytes, to: CacheFile.name(of: key(number)))
            #expect(await storage.record(for: key(number)) == Data("one".utf8))
            storage.update(key(number)) { _ in change }
            try await storage.finishWrites()
            #expect(await storage.record(for: key(number)) == nil)
        }
        #expect(disk().digestKey == storage.digestKey)
    }

    @Test func removesTheFilesOfAKilledProcess() async throws {
        _ = try folder.write(Data(count: 5000), to: CacheFile.temporaryName())
        _ = try folder.write(Data(count: 5), to: "of somebody else")
        let kept = try #require(TemporaryCacheFile(in: folder.url.path(percentEncoded: false) + "/"))
        let storage = disk()
        storage.update(key(1)) { _ in Data() }
        try await storage.finishWrites()
        #expect(folder.names.filter { CacheFile.isTemporary($0) }.count == 1)
        #expect(folder.names.contains("of somebody else"))
        kept.discard()
    }

    #if os(Linux) || os(macOS)
    /// Of two processes at a time that share a folder each is killed somewhere; `Scripts/soak --disk-cache` does it
    /// 1,000 times.
    @Test(.timeLimit(.minutes(10))) func hasCompleteRecordsAfterProcessesWereKilled() async throws {
        let path = folder.url.path(percentEncoded: false)
        for round in 0..<3 {
            async let one: Void = Self.kill(workingIn: path, after: round * 7 % 5)
            async let two: Void = Self.kill(workingIn: path, after: 20 + round * 400)
            _ = try await (one, two)
            let storage = disk()
            for number in 0..<5 {
                guard let record = await storage.record(for: key(number)) else { continue }
                #expect(record == Data(repeating: record.first ?? 0, count: 5000 + number))
            }
            #expect(records.count > 0 || round == 0)
        }
    }

    private static func kill(workingIn path: String, after count: Int) async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path, count] in
            let left = Locked(count)
            let calls = CacheFileCalls { descriptor, bytes, offset in
                // In the middle of a record.
                let isLast = left.withLock { left in
                    left -= 1
                    return left < 0
                }
                let written = pwrite(
                    descriptor,
                    bytes.baseAddress,
                    isLast ? bytes.count / 2 : bytes.count,
                    off_t(offset)
                )
                if isLast { _ = endProcess() }
                return written
            }
            let storage = DiskCacheStorage(folder: URL(filePath: path), maximumByteCount: 1 << 20, calls: calls)
            for round in 0... {
                let number = round % 5
                let key = CacheKey(digest: SHA256Digest.digest(of: Array("\(number)".utf8)))
                storage.update(key) { _ in Data(repeating: UInt8(truncatingIfNeeded: round), count: 5000 + number) }
                try await storage.finishWrites()
            }
        }
    }
    #endif
}

/// Ends this very process.
private func endProcess() -> Int32 { kill(getpid(), SIGKILL) }
