// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// Storages in memory and on disk: which records they return, and how much space these take.
@Suite(.timeLimit(.minutes(10))) struct CacheStorageTests: CacheFolderSuite {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }
}

extension CacheStorageTests {
    @Test func removesTheLeastRecentlyUsedRecordsFromMemory() async throws {
        let storage = MemoryCacheStorage(maximumByteCount: 10 * 1256)
        for number in 0..<10 { storage.update(key(number)) { _ in Data(count: 1000) } }
        #expect(storage.byteCount == 10 * 1256)
        // The first is used again and again, and stays.
        for number in 10..<500 {
            #expect(await storage.record(for: key(0)) != nil)
            storage.update(key(number)) { _ in Data(count: 1000) }
            #expect(storage.byteCount <= storage.maximumByteCount)
        }
        #expect(await storage.record(for: key(491)) != nil)
        #expect(await storage.record(for: key(490)) == nil)
        storage.update(key(0)) { _ in Data(count: 20_000) }
        #expect(await storage.record(for: key(0)) == nil)
        storage.update(key(499)) { $0.map { $0 + Data([1]) } }
        #expect(await storage.record(for: key(499))?.count == 1001)
        storage.removeAll()
        #expect(storage.byteCount == 0)
    }

    @Test func keepsRecordsOnDiskForTheNextProcess() async throws {
        let first = disk()
        first.update(key(1)) { $0 == nil ? Data("one".utf8) : nil }
        #expect(await first.record(for: key(1)) == Data("one".utf8))
        try await first.finishWrites()
        let second = disk()
        #expect(second.digestKey == first.digestKey)
        #expect(await second.record(for: key(1)) == Data("one".utf8))
        second.update(key(1)) { $0.map { $0 + $0 } }
        try await second.finishWrites()
        #expect(await first.record(for: key(1)) == Data("oneone".utf8))
        first.update(key(1)) { _ in nil }
        try await first.finishWrites()
        #expect(await second.record(for: key(1)) == nil)
        second.update(key(2)) { _ in Data("two".utf8) }
        second.removeAll()
        #expect(await second.record(for: key(2)) == nil)
        try await second.finishWrites()
        #expect(Set(folder.names) == ["digest.key", CacheFolderLock.name])
    }

    @Test func servesRecordsOfAnEarlierRun() async throws {
        let world = CacheWorld()
        world.says("one", "private, max-age=60")
        let first = disk()
        #expect(await world.api(storage: first).text("/a", ["Authorization": "Bearer 1"]) == "one")
        try await first.finishWrites()
        world.says("two", "private, max-age=60")
        let again = world.api(storage: disk())
        #expect(await again.text("/a", ["Authorization": "Bearer 1"]) == "one, fresh")
        #expect(await again.text("/a", ["Authorization": "Bearer 2"]) == "two")
    }

    /// The disk hangs during a read, and then responds again.
    @Test(arguments: [false, true]) func aReadThatNoCallWaitsForIsSkipped(hasRequest: Bool) async throws {
        // It makes the storage's key, which needs the lock.
        _ = disk()
        let (lock, hang, isReached) = (Gate("the lock"), Gate("the disk"), Gate("the read"))
        // No change is written, so only reads call the functions.
        let calls = CacheFileCalls(
            write: CacheFileCalls.system.write,
            lock: { descriptor in
                lock.block()
                return CacheFileCalls.system.lock(descriptor)
            }
        )
        let storage = disk(calls: calls)
        let keys = (0..<3).map { key($0) }
        let readCount = Locked(0)
        storage.update(keys[0]) { record in
            isReached.open()
            hang.block()
            return record
        }
        storage.update(keys[1]) { record in
            readCount.withLock { $0 += 1 }
            return record
        }
        let slow = Task { await storage.record(for: keys[0]) }
        try await isReached.opened()
        let abandoned = Task {
            if hasRequest {
                _ = try await storage.record(for: keys[1], to: ApiRequest(url: URL(filePath: "/")))
            } else {
                _ = await storage.record(for: keys[1])
            }
        }
        abandoned.cancel()
        _ = await abandoned.result
        #expect(!hang.isOpen)
        hang.open()
        // The storage reads in order.
        #expect(await storage.record(for: keys[2]) == nil)
        #expect(readCount.withLock { $0 } == 0)
        #expect(await slow.value == nil)
        lock.open()
    }

    @Test func onlyThisUserCanReadItsFiles() async throws {
        let inner = folder.url.appending(path: "made/for it")
        let storage = DiskCacheStorage(folder: inner)
        storage.update(key(1)) { _ in Data() }
        try await storage.finishWrites()
        for file in [inner] + (try FileManager.default.contentsOfDirectory(at: inner, includingPropertiesForKeys: nil))
        {
            let path = file.path(percentEncoded: false)
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode.map { $0 & 0o077 } == 0)
        }
    }

    @Test func staysWithinItsMaximumSizeOnDisk() async throws {
        let limit = 100_000
        let storages = [disk(limit), disk(limit)]
        for number in 0..<400 {
            let storage = storages[number % 2]
            storage.update(key(number)) { _ in Data(count: 1000) }
            try await storage.finishWrites()
            if number % 10 == 0 { _ = await storages[0].record(for: key(0)) }
            #expect(size(of: records) <= limit + limit / 8)
        }
        #expect(size(of: records) > limit / 2)
        #expect(records.contains(CacheFile.name(of: key(399))))
        #expect(records.contains(CacheFile.name(of: key(0))))
        storages[0].update(key(0)) { _ in Data(count: limit / 2) }
        try await storages[0].finishWrites()
        #expect(await storages[0].record(for: key(0)) == nil)
    }

    @Test(arguments: [Int.max, 0, -1, .min]) func acceptsAnyMaximumSize(_ limit: Int) async throws {
        for _ in 0..<2 {
            let storage = disk(limit)
            for number in 1...2 { try await storage.store("one", for: key(number)) }
            #expect(await storage.record(for: key(2)) == (limit > 0 ? Data("one".utf8) : nil))
        }
        #expect(disk().digestKey == disk(limit).digestKey)
        let memory = MemoryCacheStorage(maximumByteCount: limit)
        memory.update(key(1)) { _ in Data("one".utf8) }
        #expect(await memory.record(for: key(1)) == (limit > 0 ? Data("one".utf8) : nil))
    }
}
