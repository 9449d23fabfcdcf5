// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// The files of shared state.
struct FolderSharedStateTests {
    private let clock = ManualClock()
    private let folder: TemporaryFolder
    private let key = SharedStateKey("accounts", in: "tests")

    init() throws {
        folder = try TemporaryFolder()
    }

    private func open(_ name: String = "state") throws -> FolderSharedState {
        try FolderSharedState(folder: folder.file(name), timeSource: clock)
    }

    private func replace(_ text: String, in state: FolderSharedState, _ version: UInt64 = 0) async throws -> UInt64? {
        let data = Data(text.utf8)
        return try await state.replaceRecord(
            with: data,
            for: key,
            ifVersion: version,
            lifetime: nil,
            within: .seconds(1)
        )
    }

    /// The one file that is not the lock.
    private func entryFile() throws -> URL {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("state").path())
        return folder.file("state").appending(path: try #require(names.first { $0.hasSuffix(".json") }))
    }

    @Test func noChangeIsLostAmongSeveralStores() async throws {
        let folder = folder.file("state")
        let key = key
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                // Its own descriptor of the lock's file, as each process has.
                let state = try FolderSharedState(folder: folder)
                group.addTask {
                    for _ in 0..<10 {
                        while true {
                            let record = try await state.record(for: key, within: .seconds(600))
                            let count = record.data.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
                            let version = try await state.replaceRecord(
                                with: Data("\(count + 1)".utf8),
                                for: key,
                                ifVersion: record.version,
                                lifetime: nil,
                                within: .seconds(600)
                            )
                            if version != nil { break }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let record = try await FolderSharedState(folder: folder).record(for: key, within: .seconds(600))
        #expect(record.data == Data("80".utf8))
    }

    @Test func recordsOutliveTheProcess() async throws {
        let version = try #require(try await replace("one", in: open()))
        let record = try await open().record(for: key, within: .seconds(1))
        #expect(record == SharedRecord(version: version, data: Data("one".utf8)))
    }

    @Test func aLockThatAnotherProcessHoldsEndsTheOperationAtItsLimit() async throws {
        let state = try open()
        let lock = openFile(folder.file("state").appending(path: "lock").path())
        defer { close(lock) }
        #expect(flock(lock, LOCK_EX) == 0)
        let clock = clock
        let key = key
        let (error, pauses) = try await clock.moving(of: .wait) {
            do throws(ApiConnectorError) {
                _ = try await state.record(for: key, within: .seconds(2))
                return nil as ApiConnectorError?
            } catch {
                return error
            }
        }
        #expect(error?.kind == .sharedStateUnavailable)
        #expect("\(error as Any)".contains("another process has held the lock"))
        #expect(pauses.reduce(.zero, +) == .seconds(2))
        #expect(flock(lock, LOCK_UN) == 0)
        #expect(try await state.record(for: key, within: .seconds(1)).data == nil)
    }

    @Test(arguments: [ENOSYS, EOPNOTSUPP, ENOLCK])
    func aFileSystemWithoutLocksIsNamedInTheError(_ code: Int32) throws {
        var calls = CacheFileCalls.system
        calls.lock = { _ in
            errno = code
            return -1
        }
        let files = try SharedStateFiles(folder.file("state").path(), calls: calls)
        let error = #expect(throws: ApiConnectorError.self) { try files.change(key) { $0.version } }
        #expect(error?.kind == .sharedStateUnavailable)
        #expect(error?.detail.hasSuffix(" cannot be locked: \(String(cString: strerror(code)))") == true)
    }

    @Test(arguments: [EWOULDBLOCK, EINTR]) func aLockThatMayBecomeFreeIsNoError(_ code: Int32) throws {
        var calls = CacheFileCalls.system
        calls.lock = { _ in
            errno = code
            return -1
        }
        let files = try SharedStateFiles(folder.file("state").path(), calls: calls)
        #expect(try files.change(key) { $0.version } == nil)
    }

    @Test func aCanceledOperationEndsWithoutAChange() async throws {
        let state = try open()
        let key = key
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await state.acquireLease(of: key, owner: "a", for: .seconds(1), within: .seconds(1))
        }
        let error = await #expect(throws: ApiConnectorError.self) { try await task.value }
        #expect(error?.kind == .cancelled)
        #expect(try await state.acquireLease(of: key, owner: "b", for: .seconds(1), within: .seconds(1)) != nil)
    }

    @Test func filesArePrivateAndTheirNamesRevealNothing() async throws {
        _ = try await replace("x", in: open())
        func permissions(_ url: URL) throws -> Int {
            let attributes = try FileManager.default.attributesOfItem(atPath: url.path())
            return try #require(attributes[.posixPermissions] as? NSNumber).intValue
        }
        #expect(try permissions(folder.file("state")) == 0o700)
        #expect(try permissions(entryFile()) == 0o600)
        #expect(try !entryFile().lastPathComponent.contains("accounts"))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("state").path())
        #expect(names.count == 2)
    }

    @Test(arguments: [
        "", "{", "null", "[1]", #"{"version":-1}"#, "\0\0\0", changed("version", to: "\(UInt64.max)"),
        changed("leaseNumber", to: "\(UInt64.max)"), changed("fullTime", to: "\(Int64.max)"),
        changed("holdEnd", to: "\(Int64.min)"), changed("holdLength", to: "\(Int64.max)"),
    ])
    func aDamagedFileIsTreatedAsMissing(_ text: String) async throws {
        let state = try open()
        _ = try await replace("one", in: state)
        try Data(text.utf8).write(to: entryFile())
        #expect(try await state.record(for: key, within: .seconds(1)) == SharedRecord(version: 0, data: nil))
        let rate = RequestRate(1, per: .seconds(1))
        _ = try await state.takeTokens(1, of: key, at: rate, ahead: .zero, within: .seconds(1))
        _ = try await state.acquireLease(of: key, owner: "a", for: .seconds(1), within: .seconds(1))
        #expect(try await replace("two", in: state) != nil)
        #expect(try await state.record(for: key, within: .seconds(1)).data == Data("two".utf8))
    }

    /// A file in which one number of an empty entry is changed.
    private static func changed(_ name: String, to number: String) -> String {
        let names = ["version", "leaseNumber", "fullTime", "holdEnd", "holdLength"]
        return "{" + names.map { "\"\($0)\":\($0 == name ? number : "0")" }.joined(separator: ",") + "}"
    }

    @Test func aFileThatCannotBeReadIsNotReplaced() async throws {
        let state = try open()
        _ = try await replace("one", in: state)
        // A link to itself stands for any error of the system, such as too many open files.
        let file = try entryFile()
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: file)
        let error = await #expect(throws: ApiConnectorError.self) { try await replace("two", in: state) }
        #expect(error?.kind == .sharedStateUnavailable)
        #expect("\(error as Any)".contains("cannot be read"))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: file.path()) == file.path())
    }

    #if os(Linux)
    @Test func doesNotWaitForALeaseOnAFile() async throws {
        let state = try open()
        _ = try await replace("one", in: state)
        let lease = try FileLease(on: try entryFile())
        let error = await #expect(throws: ApiConnectorError.self) { try await replace("two", in: state) }
        #expect(error?.kind == .sharedStateUnavailable)
        #expect("\(error as Any)".contains("cannot be read"))
        #expect(lease.isHeld)
    }
    #endif

    @Test func readingAMissingRecordMakesNoFile() async throws {
        let state = try open()
        _ = try await state.record(for: key, within: .seconds(1))
        #expect(try names() == ["lock"])
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.file("state").path()).sorted()
    }

    @Test func filesAreRemovedADayAfterTheirStateIsOver() async throws {
        // The dates of the files are those of the system.
        let clock = ManualClock(date: Date())
        let state = try FolderSharedState(folder: folder.file("state"), timeSource: clock)
        let limit = Duration.seconds(600)
        func key(_ name: String) -> SharedStateKey { SharedStateKey(name, in: "tests") }
        func replace(
            _ name: String,
            with data: Data?,
            for lifetime: Duration?,
            in other: FolderSharedState? = nil
        ) async throws -> UInt64 {
            let store = other ?? state
            let version = try await store.record(for: key(name), within: limit).version
            let new = try await store.replaceRecord(
                with: data,
                for: key(name),
                ifVersion: version,
                lifetime: lifetime,
                within: limit
            )
            return try #require(new)
        }
        _ = try await replace("session", with: Data(), for: nil)
        _ = try await replace("signed out", with: Data(), for: nil)
        let removal = try await replace("signed out", with: nil, for: nil)
        let kept = try names()
        let version = try await replace("cached", with: Data(), for: .seconds(60))
        let lease = try await state.acquireLease(of: key("lease"), owner: "a", for: .seconds(60), within: limit)
        let rate = RequestRate(1, per: .seconds(60))
        _ = try await state.takeTokens(1, of: key("bucket"), at: rate, ahead: .zero, within: limit)
        let unfinished = folder.file("state").appending(path: "x.json.new")
        try Data().write(to: unfinished)
        #expect(try names().count == kept.count + 4)
        // An expired record that a process has read is still over.
        clock.advance(by: .seconds(3600))
        #expect(try await state.record(for: key("cached"), within: limit).version == version)
        #expect(try names().count == kept.count + 4)
        clock.advance(by: .seconds(86_400))
        _ = try await state.record(for: key("session"), within: limit)
        await eventually { (try? names()) == kept }
        // This store's clock moves, so its operations can wait for the lock.
        let other = try FolderSharedState(folder: folder.file("state"))
        #expect(try await other.record(for: key("session"), within: limit).data == Data())
        #expect(try await other.record(for: key("signed out"), within: limit).version == removal)
        // Numbers continue to grow.
        #expect(try await replace("cached", with: Data(), for: .seconds(60), in: other) > version)
        let next = try await other.acquireLease(of: key("lease"), owner: "b", for: .seconds(60), within: limit)
        #expect(try #require(next).number > #require(lease).number)
    }

    /// An operation that the disk holds, and one that waits for it.
    private func operations(
        of state: FolderSharedState,
        whileBlockedBy time: BlockedTime
    ) async throws -> [Task<Void, any Error>] {
        let key = key
        let slow = Task { _ = try await state.record(for: key, within: .seconds(1)) }
        try await time.isReached.opened()
        let count = time.readCount
        let late = Task {
            _ = try await state.acquireLease(of: key, owner: "a", for: .seconds(60), within: .seconds(1))
        }
        await eventually { time.readCount == count + 1 }
        return [slow, late]
    }

    /// The disk hangs until the end of the test.
    @Test func eachOperationEndsAtItsLimitWhileTheDiskHangs() async throws {
        let time = BlockedTime()
        let state = try FolderSharedState(folder: folder.file("state"), timeSource: time)
        let operations = try await operations(of: state, whileBlockedBy: time)
        time.clock.advance(by: .seconds(1))
        for operation in operations {
            let error = await #expect(throws: ApiConnectorError.self) { try await operation.value }
            #expect(error?.kind == .sharedStateUnavailable)
            let folder = folder.file("state").path()
            #expect(
                error?.detail
                    == "this process could not finish an operation in \(folder) within 1.0 seconds; the disk may be "
                    + "slow, or may not respond"
            )
        }
        #expect(!time.gate.isOpen)
        // The operation that had not begun changes nothing.
        time.gate.open()
        #expect(try await state.acquireLease(of: key, owner: "b", for: .seconds(60), within: .seconds(1)) != nil)
    }

    @Test func theErrorOfADiskThatHangsNamesAnEarlierLock() async throws {
        let time = BlockedTime(afterDates: 1)
        let state = try FolderSharedState(folder: folder.file("state"), timeSource: time)
        let lock = openFile(folder.file("state").appending(path: "lock").path())
        defer { close(lock) }
        #expect(flock(lock, LOCK_EX) == 0)
        let key = key
        let limit = Duration.seconds(1_000_000)
        let slow = Task { _ = try await state.record(for: key, within: limit) }
        // The second attempt begins a millisecond after the first one.
        await eventually {
            time.clock.advance(by: .milliseconds(1))
            return time.isReached.isOpen
        }
        time.clock.advance(by: limit)
        let error = await #expect(throws: ApiConnectorError.self) { try await slow.value }
        #expect(error?.kind == .sharedStateUnavailable)
        #expect("\(error as Any)".contains("another process has held the lock before; the disk may be slow"))
        time.gate.open()
    }

    @Test func aCanceledOperationDoesNotWaitForADiskThatHangs() async throws {
        let time = BlockedTime()
        let state = try FolderSharedState(folder: folder.file("state"), timeSource: time)
        let operations = try await operations(of: state, whileBlockedBy: time)
        for operation in operations {
            operation.cancel()
            let error = await #expect(throws: ApiConnectorError.self) { try await operation.value }
            #expect(error?.kind == .cancelled)
        }
        #expect(!time.gate.isOpen)
        time.gate.open()
        #expect(try await state.acquireLease(of: key, owner: "b", for: .seconds(60), within: .seconds(1)) != nil)
    }

    @Test func aTemporaryFileOfAKilledProcessIsReplaced() async throws {
        let state = try open()
        let version = try #require(try await replace("one", in: state))
        let half = try entryFile().appendingPathExtension("new")
        try Data("{\"ver".utf8).write(to: half)
        #expect(try await state.record(for: key, within: .seconds(1)).data == Data("one".utf8))
        #expect(try await replace("two", in: state, version) != nil)
        #expect(!FileManager.default.fileExists(atPath: half.path()))
    }

    @Test func settingTheClockBackMakesNoLeaseLonger() async throws {
        let late = ManualClock(date: Date(timeIntervalSince1970: 2_000_000_000))
        let first = try FolderSharedState(folder: folder.file("state"), timeSource: late)
        _ = try await first.acquireLease(of: key, owner: "a", for: .seconds(10), within: .seconds(1))
        // Years earlier.
        let second = try open()
        #expect(try await second.acquireLease(of: key, owner: "b", for: .seconds(10), within: .seconds(1)) == nil)
        clock.advance(by: .seconds(10))
        #expect(try await second.acquireLease(of: key, owner: "b", for: .seconds(10), within: .seconds(1)) != nil)
    }

    @Test func settingTheClockBackMakesNoWaitForATokenLonger() async throws {
        let rate = RequestRate(1, per: .seconds(1), burstCount: 5)
        let late = ManualClock(date: Date(timeIntervalSince1970: 2_000_000_000))
        let first = try FolderSharedState(folder: folder.file("state"), timeSource: late)
        _ = try await first.takeTokens(5, of: key, at: rate, ahead: .zero, within: .seconds(1))
        // Years earlier.
        let tokens = try await open().takeTokens(1, of: key, at: rate, ahead: .zero, within: .seconds(1))
        #expect(tokens == SharedTokens(readyCount: 0, wait: .seconds(1)))
    }

    @Test func aFolderThatCannotBeCreatedIsNamedInTheError() throws {
        _ = try folder.write(Data(), to: "file")
        let error = #expect(throws: ApiConnectorError.self) { try open("file") }
        #expect(error?.kind == .sharedStateUnavailable)
        #expect("\(error as Any)".contains("/file"))
    }
}

/// A clock whose date can be read only after a gate was opened, so that an operation takes long.
private final class BlockedTime: TimeSource {
    let clock = ManualClock()
    let gate = Gate()
    /// Opened when an operation reads the date.
    let isReached = Gate()
    private let count = Locked(0)
    private let freeCount: Locked<Int>

    /// - Parameter freeCount: How often the date can be read before; 0 by default.
    init(afterDates freeCount: Int = 0) {
        self.freeCount = Locked(freeCount)
    }

    /// How often the time was read.
    var readCount: Int { count.withLock { $0 } }

    var now: Duration {
        defer { count.withLock { $0 += 1 } }
        return clock.now
    }

    var date: Date {
        let isFree = freeCount.withLock { count in
            count -= 1
            return count >= 0
        }
        if isFree { return clock.date }
        isReached.open()
        try? gate.wait()
        return clock.date
    }

    func sleep(until deadline: Duration) async throws { try await clock.sleep(until: deadline) }
}

/// Calls the C function `open`, because the suite has a method of this name.
private func openFile(_ path: String) -> Int32 { open(path, O_RDWR | O_CLOEXEC) }
