// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

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
        first.update(key(1)) { _ in Data("one".utf8) }
        #expect(await first.record(for: key(1)) == Data("one".utf8))
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
        for _ in 0..<2 { #expect(await api.text() == "one") }
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
        for number in 0..<200 { storage.update(key(number)) { _ in Data(count: 10) } }
        gate.open()
        _ = await storage.record(for: key(0))
        // The disk has not finished the first write yet.
        #expect(records.count == 64)
    }
}
