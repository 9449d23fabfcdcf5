// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// Another process holds the lock of a cache's folder and does not release it, because it was stopped.
///
/// The tests hold the lock with another descriptor. The system treats it like the lock of another process.
@Suite(.timeLimit(.minutes(10))) struct HeldCacheLockTests: CacheFolderSuite {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }
}

extension HeldCacheLockTests {
    @Test func aReadDoesNotWaitForTheLock() async throws {
        let storage = disk()
        try await storage.store("one", for: key(1))
        let lock = try HeldLock(in: folder)
        storage.update(key(2)) { _ in Data("two".utf8) }
        #expect(await storage.record(for: key(1)) == Data("one".utf8))
        #expect(await disk().record(for: key(1)) == Data("one".utf8))
        lock.release()
    }

    @Test func eachCallEnds() async throws {
        let storage = disk()
        let world = CacheWorld()
        let api = world.api(storage: storage)
        world.says("one", "max-age=60")
        #expect(await api.text("/0") == "one")
        try await storage.finishWrites()
        let lock = try HeldLock(in: folder)
        for number in 1..<200 { #expect(await api.text("/\(number)") == "one") }
        #expect(world.requests.count == 200)
        #expect(await api.text("/0") == "one, fresh")
        lock.release()
    }

    @Test func aDroppedRecordKeepsNothingInMemory() async throws {
        let storage = disk()
        let lock = try HeldLock(in: folder)
        let ends = (0..<200).map { storage.replace(key($0), with: Data("one".utf8)) }
        for end in ends { try await end.opened() }
        for number in 0..<200 { #expect(await storage.record(for: key(number)) == nil) }
        #expect(records == [])
        lock.release()
        try await storage.store("two", for: key(1))
        #expect(await disk().record(for: key(1)) == Data("two".utf8))
    }

    @Test func aChangeWaitsForALockThatIsReleasedSoon() async throws {
        let held = Locked<HeldLock?>(nil)
        let pauseCount = Locked(0)
        let calls = CacheFileCalls(
            write: CacheFileCalls.system.write,
            pause: {
                let count = pauseCount.withLock { count in
                    count += 1
                    return count
                }
                if count == CacheFolderLock.maximumTryCount - 1 { held.withLock { $0.take() }?.release() }
            }
        )
        let storage = disk(calls: calls)
        let lock = try HeldLock(in: folder)
        held.withLock { $0 = lock }
        try await storage.store("one", for: key(1))
        #expect(pauseCount.withLock { $0 } == CacheFolderLock.maximumTryCount - 1)
        #expect(await disk().record(for: key(1)) == Data("one".utf8))
    }

    /// Else each change of many would be in memory for the whole time.
    @Test func afterAChangeThatWasDroppedNoOtherWaitsUntilTheLockIsFree() async throws {
        let pauseCount = Locked(0)
        let calls = CacheFileCalls(
            write: CacheFileCalls.system.write,
            pause: { pauseCount.withLock { $0 += 1 } }
        )
        let storage = disk(calls: calls)
        for round in 1...2 {
            let lock = try HeldLock(in: folder)
            for number in 0..<5 { try await storage.replace(key(number), with: Data("one".utf8)).opened() }
            try await storage.finishWrites()
            #expect(pauseCount.withLock { $0 } == round * (CacheFolderLock.maximumTryCount - 1))
            lock.release()
            try await storage.store("two", for: key(1))
            #expect(await disk().record(for: key(1)) == Data("two".utf8))
        }
    }

    /// A process that continues may put back the record that a dropped change should have replaced.
    @Test(arguments: [false, true]) func aRecordThatComesBackAfterADroppedChangeIsNotUsed(all: Bool) async throws {
        let storage = disk()
        try await storage.store("one", for: key(1))
        let lock = try HeldLock(in: folder)
        if all { storage.removeAll() } else { storage.update(key(1)) { _ in nil } }
        try await storage.finishWrites()
        #expect(records == [])
        let file = try folder.write(CacheFile.bytes(of: Data("one".utf8), for: key(1)), to: "other")
        let place = folder.file(CacheFile.name(of: key(1)))
        try #require(rename(file.path(percentEncoded: false), place.path(percentEncoded: false)) == 0)
        #expect(await storage.record(for: key(1)) == nil)
        lock.release()
        #expect(await storage.record(for: key(1)) == nil)
        try await storage.store("two", for: key(2))
        #expect(records == [CacheFile.name(of: key(2))])
        try await storage.store("three", for: key(1))
        #expect(await storage.record(for: key(1)) == Data("three".utf8))
    }

    /// The first change waits for the lock, until too many others wait and the last ones are dropped.
    @Test(arguments: [false, true]) func aRecordWhoseChangeWasDroppedIsNotUsedAfterARestart(all: Bool) async throws {
        let gate = Gate("the last change")
        let calls = CacheFileCalls(write: CacheFileCalls.system.write, pause: { gate.block() })
        let storage = disk(calls: calls)
        try await storage.store("one", for: key(-1))
        let lock = try HeldLock(in: folder)
        let count = all ? PendingCacheChanges.maximumOutdatedCount : 0
        let ends = (0..<PendingCacheChanges.maximumCount).map { storage.replace(key($0), with: Data("one".utf8)) }
        for number in 0..<count { storage.update(key(1000 + number)) { _ in nil } }
        storage.update(key(-1)) { _ in nil }
        #expect(records == [CacheFile.name(of: key(-1))])
        gate.open()
        for end in ends { try await end.opened() }
        try await storage.finishWrites()
        #expect(records == [])
        #expect(await disk().record(for: key(-1)) == nil)
        lock.release()
    }

    @Test func noRecordIsUsedAfterTooManyDroppedChanges() {
        var changes = PendingCacheChanges()
        let isUsed = { (changes: PendingCacheChanges) in
            if case .onDisk = changes.view(of: key(-1)).base { true } else { false }
        }
        for number in 0..<PendingCacheChanges.maximumOutdatedCount { _ = changes.drop(key(number)) }
        #expect(isUsed(changes))
        _ = changes.drop(key(PendingCacheChanges.maximumOutdatedCount))
        #expect(!isUsed(changes))
        changes.finishRemoval(of: .keys([key(0)]))
        #expect(!isUsed(changes))
        changes.finishRemoval(of: changes.outdated)
        #expect(isUsed(changes))
    }

    @Test(arguments: [false, true]) func openingAStorageDoesNotWaitForTheLock(isDamaged: Bool) async throws {
        if isDamaged { _ = try folder.write(Data("short".utf8), to: "digest.key") }
        let lock = try HeldLock(in: folder)
        let storage = disk()
        #expect(storage.digestKey.count == 32)
        #expect(disk().digestKey == storage.digestKey)
        lock.release()
    }

    @Test func theSweepOfSharedStateDoesNotWaitForTheLock() throws {
        let files = try SharedStateFiles(folder.url.path(percentEncoded: false))
        let name = "old.json.new"
        let place = try folder.write(Data(), to: name).path(percentEncoded: false)
        let yesterday: [FileAttributeKey: Any] = [.modificationDate: Date(timeIntervalSince1970: 0)]
        try FileManager.default.setAttributes(yesterday, ofItemAtPath: place)
        let lock = try HeldLock(in: folder)
        files.sweep(now: SharedEntry.day * 2)
        #expect(folder.names.contains(name))
        lock.release()
        files.sweep(now: SharedEntry.day * 2)
        #expect(!folder.names.contains(name))
    }
}

/// The lock of a cache's folder, which another descriptor than the storage's holds.
private struct HeldLock: Sendable {
    private let descriptor: Int32

    init(in folder: TemporaryFolder) throws {
        let path = folder.file(CacheFolderLock.name).path(percentEncoded: false)
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        // A storage releases the lock after its last change, and waits for nothing until then.
        try #require(flock(descriptor, LOCK_EX) == 0)
    }

    func release() {
        // A process that another test starts may have a copy of the descriptor, which would keep the lock.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
