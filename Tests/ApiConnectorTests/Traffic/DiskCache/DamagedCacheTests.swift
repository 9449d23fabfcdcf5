// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// A disk that is full, slow or damaged fails nothing.
@Suite(.timeLimit(.minutes(10))) struct DamagedCacheTests: CacheFolderSuite {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }
}

extension DamagedCacheTests {
    @Test func removesADamagedFile() async throws {
        let storage = disk()
        let key = key(1)
        let name = CacheFile.name(of: key)
        let bytes = CacheFile.bytes(of: Data("a record".utf8), for: key)
        var damaged = (0..<bytes.count).map { bytes.prefix($0) } + [bytes + Data([0])]
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 0x10
            damaged.append(changed)
        }
        damaged += [Data(count: bytes.count), CacheFile.bytes(of: Data("a record".utf8), for: self.key(2))]
        for data in damaged {
            _ = try folder.write(data, to: name)
            #expect(await storage.record(for: key) == nil)
            #expect(!folder.names.contains(name))
        }
        _ = try folder.write(bytes, to: name)
        #expect(await storage.record(for: key) == Data("a record".utf8))
    }

    @Test func ignoresOtherKindsOfFilesInItsPlaces() async throws {
        let storage = disk()
        let path = { (key: CacheKey) in folder.file(CacheFile.name(of: key)).path(percentEncoded: false) }
        let target = try folder.write(Data("another's".utf8), to: "target")
        #expect(symlink(target.path(percentEncoded: false), path(key(1))) == 0)
        #expect(mkfifo(path(key(2)), 0o600) == 0)
        #expect(mkdir(path(key(3)), 0o700) == 0)
        for number in 1...3 {
            #expect(await storage.record(for: key(number)) == nil)
            storage.update(key(number)) { _ in Data("own".utf8) }
        }
        try await storage.finishWrites()
        #expect(await storage.record(for: key(1)) == Data("own".utf8))
        #expect(await storage.record(for: key(2)) == Data("own".utf8))
        #expect(await storage.record(for: key(3)) == nil)
        #expect(folder.data("target") == Data("another's".utf8))
    }

    @Test func replacesADamagedKey() async throws {
        let first = disk()
        _ = try folder.write(Data("short".utf8), to: "digest.key")
        let second = disk()
        #expect(second.digestKey.count == 32)
        #expect(second.digestKey != first.digestKey)
        #expect(disk().digestKey == second.digestKey)
    }

    /// Else each process has its own key, and finds nothing of what an earlier one stored.
    @Test func keepsItsKeyIfHardLinksAreRefused() async throws {
        let refusing = CacheFileCalls(write: CacheFileCalls.system.write) { _, _ in
            errno = EPERM
            return -1
        }
        let first = disk(calls: refusing)
        try await first.store("one", for: key(1))
        let second = disk(calls: refusing)
        #expect(second.digestKey == first.digestKey)
        #expect(await second.record(for: key(1)) == Data("one".utf8))
        #expect(!folder.names.contains { CacheFile.isTemporary($0) })
    }

    @Test(arguments: [0, 40, 100]) func noCallFailsOnAFullDisk(after byteCount: Int) async throws {
        let room = Locked(byteCount)
        let full = CacheFileCalls { descriptor, bytes, offset in
            let count = room.withLock { room in
                let count = min(room, bytes.count)
                room -= count
                return count
            }
            guard count > 0 else {
                errno = ENOSPC
                return -1
            }
            return pwrite(descriptor, bytes.baseAddress, count, off_t(offset))
        }
        let storage = disk(calls: full)
        storage.update(key(1)) { _ in Data(count: 200) }
        try await storage.finishWrites()
        #expect(await storage.record(for: key(1)) == nil)
        #expect(folder.names.filter { CacheFile.isTemporary($0) || $0.hasSuffix(".record") } == [])
        #expect(storage.digestKey.count == 32)
    }

    @Test(arguments: ["/proc/none/cache", "/dev/null/cache", "/dev/null"])
    func noCallFailsInAnImpossibleFolder(_ path: String) async throws {
        let storage = DiskCacheStorage(folder: URL(filePath: path))
        let world = CacheWorld()
        let api = world.api(storage: storage)
        world.says("one", "max-age=60")
        // The second response may be a hit: a record is in memory until the disk has refused it.
        for _ in 0..<2 { #expect(await api.text().hasPrefix("one")) }
        storage.removeAll()
    }

    @Test func dropsRecordsIfTheDiskIsTooSlow() async throws {
        let gate = Gate("the disk")
        let slow = CacheFileCalls { descriptor, bytes, offset in
            gate.block()
            return pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset))
        }
        _ = disk()
        let storage = disk(calls: slow)
        let ends = (0..<200).map { storage.replace(key($0), with: Data(count: 10)) }
        // The disk has not finished the first write yet.
        #expect(ends.count { !$0.isOpen } == PendingCacheChanges.maximumCount)
        #expect(ends.suffix(200 - PendingCacheChanges.maximumCount).allSatisfy { $0.isOpen })
        gate.open()
        for end in ends { try await end.opened() }
        try await storage.finishWrites()
        #expect(records.count == PendingCacheChanges.maximumCount)
    }

    /// Otherwise the old record would be used after its replacement was dropped.
    @Test func aRecordIsRemovedIfTheDiskIsTooSlowForItsReplacement() async throws {
        let gate = Gate("the disk")
        let slow = CacheFileCalls { descriptor, bytes, offset in
            gate.block()
            return pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset))
        }
        try await disk().store("old", for: key(1000))
        let storage = disk(calls: slow)
        let ends = (0..<PendingCacheChanges.maximumCount).map { storage.replace(key($0), with: Data()) }
        storage.update(key(1000)) { _ in Data("new".utf8) }
        #expect(await storage.record(for: key(1000)) == nil)
        gate.open()
        // Until then, the storage drops further changes.
        for end in ends { try await end.opened() }
        try await storage.finishWrites()
        #expect(records.count == PendingCacheChanges.maximumCount)
        #expect(!records.contains(CacheFile.name(of: key(1000))))
    }

    @Test func aSlowWriteDelaysNoReadAndItsRecordIsReadBeforehand() async throws {
        let (writing, gate) = (Gate("it writes"), Gate("the disk"))
        let slow = CacheFileCalls { descriptor, bytes, offset in
            writing.open()
            gate.block()
            return pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset))
        }
        try await disk().store("one", for: key(1))
        let storage = disk(calls: slow)
        storage.update(key(2)) { _ in Data("two".utf8) }
        try await writing.opened()
        storage.update(key(2)) { $0.map { $0 + Data("!".utf8) } }
        storage.update(key(1)) { $0.map { $0 + Data("!".utf8) } }
        #expect(await storage.record(for: key(1)) == Data("one!".utf8))
        #expect(await storage.record(for: key(2)) == Data("two!".utf8))
        #expect(await disk().record(for: key(2)) == nil)
        storage.removeAll()
        for number in 1...2 { #expect(await storage.record(for: key(number)) == nil) }
        gate.open()
        try await storage.finishWrites()
        #expect(records == [])
    }

    /// Reads and writes run at the same time, so a read could apply a change that is on the disk already.
    @Test func eachReadSeesEachChangeOnce() async throws {
        let storage = disk()
        for round in 0..<20 {
            for number in 1..<PendingCacheChanges.maximumCount {
                storage.update(key(round)) { Data(count: ($0?.count ?? 0) + 1) }
                #expect(await storage.record(for: key(round))?.count == number)
            }
            try await storage.finishWrites()
            #expect(await disk().record(for: key(round))?.count == PendingCacheChanges.maximumCount - 1)
        }
    }
}
