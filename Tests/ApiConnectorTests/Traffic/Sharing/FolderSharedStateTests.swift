// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// The files of shared state.
@Suite struct FolderSharedStateTests {
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
        let (error, pauses) = try await clock.moving {
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
        #expect(try await state.record(for: key, within: .zero).data == nil)
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

    @Test(arguments: ["", "{", "null", "[1]", #"{"version":-1}"#, "\0\0\0"])
    func aDamagedFileIsTreatedAsMissing(_ text: String) async throws {
        let state = try open()
        _ = try await replace("one", in: state)
        try Data(text.utf8).write(to: entryFile())
        #expect(try await state.record(for: key, within: .seconds(1)) == SharedRecord(version: 0, data: nil))
        #expect(try await replace("two", in: state) != nil)
        #expect(try await state.record(for: key, within: .seconds(1)).data == Data("two".utf8))
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

    @Test func aFolderThatCannotBeCreatedIsNamedInTheError() throws {
        _ = try folder.write(Data(), to: "file")
        let error = #expect(throws: ApiConnectorError.self) { try open("file") }
        #expect(error?.kind == .sharedStateUnavailable)
        #expect("\(error as Any)".contains("/file"))
    }
}

/// Calls the C function `open`, because the suite has a method of this name.
private func openFile(_ path: String) -> Int32 { open(path, O_RDWR | O_CLOEXEC) }
