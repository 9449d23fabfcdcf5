// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// Records and where they are kept: bounds, damage, several users of one folder.
@Suite(.timeLimit(.minutes(1))) struct CacheStorageTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func key(_ number: Int) -> CacheKey {
        CacheKey(digest: SHA256Digest.digest(of: Array("\(number)".utf8)))
    }

    private func disk(_ maximumByteCount: Int = 1 << 20, calls: FileCalls = .system) -> DiskCacheStorage {
        DiskCacheStorage(folder: folder.url, maximumByteCount: maximumByteCount, calls: calls)
    }

    private var records: [String] { folder.names.filter { $0.hasSuffix(".record") } }

    private func size(of names: [String]) -> Int { names.reduce(0) { $0 + (folder.data($1)?.count ?? 0) } }

    @Test func digestsAsTheStandardsSay() {
        func hex(_ bytes: [UInt8]) -> String { CacheKey(digest: bytes).description }
        #expect(
            hex(SHA256Digest.digest(of: [])) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        )
        #expect(
            hex(SHA256Digest.digest(of: Array("abc".utf8)))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        )
        #expect(
            hex(SHA256Digest.digest(of: Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8)))
                == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        )
        #expect(
            hex(SHA256Digest.digest(of: [UInt8](repeating: UInt8(ascii: "a"), count: 1_000)))
                == "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"
        )
        // RFC 4231, test cases 2 and 6.
        #expect(
            hex(
                SHA256Digest.authenticationCode(of: Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
            )
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        )
        let message = Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8)
        #expect(
            hex(SHA256Digest.authenticationCode(of: message, key: [UInt8](repeating: 0xAA, count: 131)))
                == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        )
    }

    @Test func findsOneRecordForAllFormsOfAnAddress() throws {
        let digest = CacheDigest(key: Data([1]))
        func address(_ text: String, host: String? = nil) throws -> CacheKey? {
            digest.key(of: try #require(URL(string: text)), host: host)
        }
        let plain = try address("http://h/a?b=c")
        #expect(plain != nil)
        for same in ["http://h:80/a?b=c", "HTTP://H/a?b=c", "http://u:p@h/a?b=c", "http://h/a?b=c#d"] {
            #expect(try address(same) == plain)
        }
        for other in [
            "https://h/a?b=c", "http://h:81/a?b=c", "http://h/a", "http://h/a?b=d", "http://h/A?b=c", "http://h/a?b=c&",
        ] {
            #expect(try address(other) != plain)
        }
        #expect(try address("http://h/a?b=c", host: "other") != plain)
        #expect(try address("http://h") == address("http://h/"))
        #expect(try address("file:///a") == nil)
        let url = try #require(URL(string: "http://h/a?b=c"))
        #expect(CacheDigest(key: Data([2])).key(of: url) != plain)
    }

    @Test func takesNoOtherBytesForARecord() {
        var record = CacheRecord()
        for number in 0..<3 {
            let stored = StoredResponse(
                status: 200,
                headers: ["A": "\(number)", "A": "b"],
                body: Data("body \(number)".utf8),
                requestDate: Date(timeIntervalSince1970: 1.25),
                responseDate: Date(timeIntervalSince1970: 2),
                credential: Data("\(number)".utf8)
            )
            record.insert(stored)
        }
        let data = record.data
        #expect(CacheRecord(data) == record)
        // A slice, as of a file, is one as well.
        #expect(CacheRecord((Data([1, 2]) + data).dropFirst(2)) == record)
        for end in 0..<data.count { #expect(CacheRecord(data.prefix(end)) == nil) }
        #expect(CacheRecord(data + Data([0])) == nil)
        var random = SplitMix64.printed()
        for _ in 0..<min(SplitMix64.caseCount, 20_000) {
            var changed = data
            for _ in 0...2 { changed[Int.random(in: 0..<data.count, using: &random)] = random.next8() }
            // Whatever it is taken for, it is taken for something without a trap.
            _ = CacheRecord(changed)
        }
    }

    @Test func keepsTheNewestOfAnAddress() {
        var record = CacheRecord()
        func stored(_ number: Int) -> StoredResponse {
            StoredResponse(
                status: 200,
                headers: HTTPHeaders(),
                body: Data(count: 10),
                requestDate: .distantPast,
                responseDate: .distantPast,
                credential: Data([UInt8(number)])
            )
        }
        for number in 0..<10 { record.insert(stored(number)) }
        #expect(record.responses.map { $0.credential[0] } == [9, 8, 7, 6, 5, 4, 3, 2])
        record.insert(stored(5))
        #expect(record.responses.map { $0.credential[0] } == [5, 9, 8, 7, 6, 4, 3, 2])
        record.trim(to: 25)
        #expect(record.responses.map { $0.credential[0] } == [5, 9])
    }

    @Test func makesRoomInMemoryForTheNewestInUse() async throws {
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
        let second = disk()
        #expect(second.digestKey == first.digestKey)
        #expect(await second.record(for: key(1)) == Data("one".utf8))
        second.update(key(1)) { $0.map { $0 + $0 } }
        _ = await second.record(for: key(1))
        #expect(await first.record(for: key(1)) == Data("oneone".utf8))
        first.update(key(1)) { _ in nil }
        _ = await first.record(for: key(1))
        #expect(await second.record(for: key(1)) == nil)
        second.update(key(2)) { _ in Data("two".utf8) }
        second.removeAll()
        #expect(await second.record(for: key(2)) == nil)
        #expect(Set(folder.names) == ["digest.key", CacheFolderLock.name])
    }

    @Test func keepsItsFilesForThisUserAlone() async throws {
        let inner = folder.url.appending(path: "made/for it")
        let storage = DiskCacheStorage(folder: inner)
        storage.update(key(1)) { _ in Data() }
        _ = await storage.record(for: key(1))
        for file in [inner] + (try FileManager.default.contentsOfDirectory(at: inner, includingPropertiesForKeys: nil))
        {
            let path = file.path(percentEncoded: false)
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode.map { $0 & 0o077 } == 0)
        }
    }

    @Test func takesNoDamagedFileForARecordAndRemovesIt() async throws {
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

    @Test func standsNoOtherKindOfFileInItsPlaces() async throws {
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

    @Test func staysWithinItsBytesOnDisk() async throws {
        let limit = 100_000
        let storages = [disk(limit), disk(limit)]
        for number in 0..<400 {
            let storage = storages[number % 2]
            storage.update(key(number)) { _ in Data(count: 1000) }
            _ = await storage.record(for: key(number))
            if number % 10 == 0 { _ = await storages[0].record(for: key(0)) }
            #expect(size(of: records) <= limit + limit / 8)
        }
        #expect(size(of: records) > limit / 2)
        #expect(records.contains(CacheFile.name(of: key(399))))
        #expect(records.contains(CacheFile.name(of: key(0))))
        storages[0].update(key(0)) { _ in Data(count: limit / 2) }
        #expect(await storages[0].record(for: key(0)) == nil)
    }

    @Test(arguments: [Int.max, 0, -1, .min]) func takesAnyNumberOfBytesForItsLimit(_ limit: Int) async {
        for _ in 0..<2 {
            let storage = disk(limit)
            for number in 1...2 { storage.update(key(number)) { _ in Data("one".utf8) } }
            #expect(await storage.record(for: key(2)) == (limit > 0 ? Data("one".utf8) : nil))
        }
        #expect(disk().digestKey == disk(limit).digestKey)
        let memory = MemoryCacheStorage(maximumByteCount: limit)
        memory.update(key(1)) { _ in Data("one".utf8) }
        #expect(await memory.record(for: key(1)) == (limit > 0 ? Data("one".utf8) : nil))
    }

    private func lock() throws -> Int32 {
        let descriptor = open(folder.file(CacheFolderLock.name).path(percentEncoded: false), O_RDWR)
        return try #require(descriptor >= 0 ? descriptor : nil)
    }

    @Test func letsNobodyChangeARecordThatIsBeingReplaced() async throws {
        let (writing, gate) = (Gate("it writes"), Gate("the disk"))
        let slow = FileCalls { descriptor, bytes, offset in
            writing.open()
            _ = try? Blocked.wait(gate)
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
        for storage in [storage, other, disk()] { _ = await storage.record(for: key(1)) }
        #expect(await disk().record(for: key(1)) == nil)
        #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
    }

    @Test(arguments: [false, true]) func forgetsARecordThatAnotherProcessIsReplacing(all: Bool) async throws {
        let storage = disk()
        storage.update(key(1)) { _ in Data("one".utf8) }
        _ = await storage.record(for: key(1))
        let lock = try lock()
        #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
        if all { storage.removeAll() } else { storage.update(key(1)) { _ in nil } }
        for _ in 0..<1000 { await Task.yield() }
        // What the other process has made of what it had read.
        let file = try folder.write(CacheFile.bytes(of: Data("two".utf8), for: key(1)), to: "other")
        let place = folder.file(CacheFile.name(of: key(1)))
        #expect(rename(file.path(percentEncoded: false), place.path(percentEncoded: false)) == 0)
        close(lock)
        #expect(await storage.record(for: key(1)) == nil)
    }

    @Test func storesNothingWhereNoLockCanBe() async throws {
        #expect(mkdir(folder.file(CacheFolderLock.name).path(percentEncoded: false), 0o700) == 0)
        let storage = disk()
        let bytes = CacheFile.bytes(of: Data("one".utf8), for: key(1))
        for change in [nil, Data("two".utf8)] {
            _ = try folder.write(bytes, to: CacheFile.name(of: key(1)))
            #expect(await storage.record(for: key(1)) == Data("one".utf8))
            storage.update(key(1)) { _ in change }
            #expect(await storage.record(for: key(1)) == nil)
        }
        #expect(disk().digestKey == storage.digestKey)
    }

    @Test func removesWhatAKilledProcessLeftBehind() async throws {
        _ = try folder.write(Data(count: 5000), to: CacheFile.temporaryName())
        _ = try folder.write(Data(count: 5), to: "of somebody else")
        let kept = try #require(TemporaryCacheFile(in: folder.url.path(percentEncoded: false) + "/"))
        let storage = disk()
        storage.update(key(1)) { _ in Data() }
        _ = await storage.record(for: key(1))
        #expect(folder.names.filter { CacheFile.isTemporary($0) }.count == 1)
        #expect(folder.names.contains("of somebody else"))
        kept.discard()
    }

    @Test(arguments: [0, 40, 100]) func failsNothingOnADiskThatIsFull(after byteCount: Int) async throws {
        let room = Locked(byteCount)
        let full = FileCalls { descriptor, bytes, offset in
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
    func failsNothingInAFolderThatCannotBe(_ path: String) async throws {
        let storage = DiskCacheStorage(folder: URL(filePath: path))
        let world = CacheWorld()
        let api = world.api(storage: storage)
        world.says("one", "max-age=60")
        for _ in 0..<2 { #expect(await api.text() == "one") }
        storage.removeAll()
    }

    @Test func makesANewKeyInPlaceOfADamagedOne() async throws {
        let first = disk()
        _ = try folder.write(Data("short".utf8), to: "digest.key")
        let second = disk()
        #expect(second.digestKey.count == 32)
        #expect(second.digestKey != first.digestKey)
        #expect(disk().digestKey == second.digestKey)
    }

    @Test func servesWhatAnEarlierRunHasStored() async {
        let world = CacheWorld()
        world.says("one", "private, max-age=60")
        let first = disk()
        #expect(await world.api(storage: first).text("/a", ["Authorization": "Bearer 1"]) == "one")
        // Behind what it has to write.
        _ = await first.record(for: key(0))
        world.says("two", "private, max-age=60")
        let again = world.api(storage: disk())
        #expect(await again.text("/a", ["Authorization": "Bearer 1"]) == "one, fresh")
        #expect(await again.text("/a", ["Authorization": "Bearer 2"]) == "two")
    }

    @Test func forgetsWhatADiskIsTooSlowFor() async throws {
        let gate = Gate("the disk")
        let slow = FileCalls { descriptor, bytes, offset in
            _ = try? Blocked.wait(gate)
            return pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset))
        }
        _ = disk()
        let storage = disk(calls: slow)
        for number in 0..<200 { storage.update(key(number)) { _ in Data(count: 10) } }
        gate.open()
        _ = await storage.record(for: key(0))
        #expect((1...100).contains(records.count))
    }

    private enum Blocked {
        static func wait(_ gate: Gate) throws { try gate.wait() }
    }

    /// Of two processes at a time that share a folder each is killed somewhere; `Scripts/soak --disk-cache` does it 1,000
    /// times.
    @Test(.timeLimit(.minutes(5))) func hasWholeRecordsWhereProcessesWereKilled() async throws {
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
            let calls = FileCalls { descriptor, bytes, offset in
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
                _ = await storage.record(for: key)
            }
        }
    }
}

/// Ends this very process.
private func endProcess() -> Int32 { kill(getpid(), SIGKILL) }

extension SplitMix64 {
    fileprivate mutating func next8() -> UInt8 { UInt8(truncatingIfNeeded: next()) }
}
