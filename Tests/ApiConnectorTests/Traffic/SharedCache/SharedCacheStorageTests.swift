// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// Tests of the second level of a cache, which several instances share.
@Suite(.timeLimit(.minutes(10))) struct SharedCacheStorageTests {
    private let world = CacheWorld()
    private let state: UnreliableState
    private let digestKey = Data(repeating: 7, count: 32)

    init() {
        state = UnreliableState(MemorySharedState(timeSource: world.clock))
    }
}

extension SharedCacheStorageTests {
    /// A storage whose closures reverse the bytes, so that stored bytes differ from the record.
    private func storage(named name: String = "a", lifetime: Duration = .seconds(86_400)) -> SharedCacheStorage {
        SharedCacheStorage(
            named: name,
            in: state,
            digestKey: digestKey,
            sealedBy: { Data($0.reversed()) },
            openedBy: { Data($0.reversed()) },
            lifetime: lifetime,
            timeSource: world.clock
        )
    }

    private func isWritten(_ storage: SharedCacheStorage) async {
        await eventually { storage.writeCount == 0 }
    }

    @Test func anInstanceUsesTheResponseThatAnotherOneHasStored() async {
        world.says("one", "private, max-age=60")
        let (first, second) = (storage(), storage())
        #expect(await world.api(storage: first).text() == "one")
        await isWritten(first)
        #expect(await world.api(storage: second).text() == "one, fresh")
        #expect(world.requests.count == 1)
        // The second instance now has the response in memory.
        let count = state.count(of: .record)
        #expect(await world.api(storage: second).text() == "one, fresh")
        #expect(state.count(of: .record) == count)
    }

    @Test func storesOfAnotherNameOrKeyAreSeparate() async {
        world.says("one", "private, max-age=60")
        let first = storage()
        _ = await world.api(storage: first).text()
        await isWritten(first)
        #expect(await world.api(storage: storage(named: "b")).text() == "one")
        let other = SharedCacheStorage(
            named: "a",
            in: state,
            digestKey: Data(repeating: 8, count: 32),
            sealedBy: { Data($0.reversed()) },
            openedBy: { Data($0.reversed()) },
            timeSource: world.clock
        )
        #expect(await world.api(storage: other).text() == "one")
        #expect(world.requests.count == 3)
    }

    private func records(in state: any SharedState) -> SharedCacheRecords {
        SharedCacheRecords(
            state: state,
            name: "a",
            namespace: "n",
            seal: { Data($0.reversed()) },
            open: { Data($0.reversed()) },
            lifetime: .seconds(60),
            refreshInterval: .seconds(10),
            limit: .seconds(1),
            timeSource: world.clock
        )
    }

    @Test func theStoreHasSealedRecordsOnly() async throws {
        let memory = MemorySharedState(timeSource: world.clock)
        let key = CacheKey(digest: Array(0..<32))
        let records = records(in: memory)
        #expect(try await records.update(key) { _ in Data("text".utf8) })
        let place = SharedStateKey("a/0/\(key)", in: "n")
        let data = try #require(memory.record(for: place, within: .zero).data)
        #expect(data == Data((key.description + "text").utf8.reversed()))
        #expect(try await records.record(for: key) == Data("text".utf8))
        // A record that was moved from another key is a miss, and so is one that does not open.
        for data in [Data(("f" + key.description.dropFirst() + "text").utf8.reversed()), Data("x".utf8), Data()] {
            let version = memory.record(for: place, within: .zero).version
            _ = memory.replaceRecord(with: data, for: place, ifVersion: version, lifetime: nil, within: .zero)
            #expect(try await records.record(for: key) == nil)
        }
        #expect(try await records.update(key) { $0 == nil ? Data("new".utf8) : nil })
        #expect(try await records.record(for: key) == Data("new".utf8))
        world.clock.advance(by: .seconds(60))
        #expect(try await records.record(for: key) == nil)
    }

    @Test func changesOfTwoInstancesAreMerged() async {
        let (first, second) = (storage(), storage())
        let key = CacheKey(digest: Array(0..<32))
        // An instance stops after five attempts. With four changes, the other instance is faster four times at most.
        for number in 0..<8 {
            let storage = number.isMultiple(of: 2) ? first : second
            storage.update(key) { ($0 ?? Data()) + Data([UInt8(number)]) }
        }
        await isWritten(first)
        await isWritten(second)
        let record = await storage().record(for: key)
        #expect(Set(record ?? Data()) == Set(0..<8))
        #expect(record?.count == 8)
        // The changes of one instance are in order.
        #expect(record?.filter { $0.isMultiple(of: 2) }.sorted() == record?.filter { $0.isMultiple(of: 2) })
    }

    @Test func anInvalidationAppliesToAllInstancesAfterTheInterval() async {
        world.says("one", "private, max-age=600")
        let (first, second) = (storage(), storage())
        let (one, other) = (world.api(storage: first), world.api(storage: second))
        _ = await one.text()
        await isWritten(first)
        #expect(await other.text() == "one, fresh")
        world.says("two", "private, max-age=600")
        _ = await one.text(method: .post)
        // The invalidation applies to its own instance at once, even before it reaches the store.
        #expect(await one.text() == "two")
        await isWritten(first)
        #expect(await other.text() == "one, fresh")
        world.clock.advance(by: .seconds(10))
        #expect(await other.text() == "two, fresh")
    }

    @Test func theOperationsOfAReadHaveOneTimeLimit() async {
        let clock = world.clock
        state.fail { _ in
            // Each operation takes a while, and succeeds.
            clock.advance(by: .milliseconds(100))
            return false
        }
        _ = await storage().record(for: CacheKey(digest: Array(0..<32)))
        #expect(state.limits == [.milliseconds(250), .milliseconds(150)])
    }

    @Test func withoutTheStateCallsMissAndReportAnEvent() async {
        world.says("one", "private, max-age=600")
        let (first, second) = (storage(), storage())
        _ = await world.api(storage: first).text()
        await isWritten(first)
        state.fail()
        #expect(await world.api(storage: second).text() == "one")
        #expect(world.requests.count == 2)
        #expect(second.isUnavailable)
        #expect(world.events.texts.contains { $0.contains("sharedStateUnavailable") }, "\(world.events.texts)")
        // Each instance uses the record in its memory, even when it is time to compare it.
        world.clock.advance(by: .seconds(10))
        let count = state.count(of: .record)
        for _ in 0..<5 {
            #expect(await world.api(storage: first).text() == "one, fresh")
            #expect(await world.api(storage: second).text() == "one, fresh")
        }
        #expect(state.count(of: .record) <= count + 2)
    }

    @Test func anInvalidationThatTheStoreDoesNotGetIsRepeated() async {
        world.says("one", "private, max-age=600")
        let first = storage()
        let one = world.api(storage: first)
        _ = await one.text()
        await isWritten(first)
        state.fail()
        world.answers { _ in .status(204) }
        _ = await one.text(method: .post)
        await isWritten(first)
        state.fail { _ in false }
        world.clock.advance(by: .seconds(30))
        world.says("two", "no-store")
        // The instance does not use the old record in the store, and removes it.
        #expect(await one.text() == "two")
        await isWritten(first)
        #expect(await world.api(storage: storage()).text() == "two")
    }

    @Test func tooManyLostInvalidationsAbandonAllRecords() async {
        let first = storage()
        let keys = (0..<300).map { number in
            CacheKey(digest: Array(repeating: 1, count: 30) + [UInt8(number / 256), UInt8(number % 256)])
        }
        for key in keys {
            first.update(key) { _ in Data("x".utf8) }
            await isWritten(first)
        }
        state.fail()
        for key in keys {
            first.update(key) { _ in nil }
            await isWritten(first)
        }
        state.fail { _ in false }
        world.clock.advance(by: .seconds(60))
        for key in keys { #expect(await first.record(for: key) == nil) }
        await isWritten(first)
        let other = storage()
        for key in keys { #expect(await other.record(for: key) == nil) }
    }

    @Test func allRecordsAreForgottenInAllInstances() async {
        world.says("one", "private, max-age=600")
        let (first, second) = (storage(), storage())
        _ = await world.api(storage: first).text()
        await isWritten(first)
        #expect(await world.api(storage: second).text() == "one, fresh")
        let count = state.count(of: .replace)
        first.removeAll()
        await eventually { state.count(of: .replace) == count + 1 }
        #expect(await world.api(storage: first).text("/a", use: .cached) == "notCached 0")
        world.clock.advance(by: .seconds(10))
        #expect(await world.api(storage: second).text("/a", use: .cached) == "notCached 0")
        #expect(await world.api(storage: storage()).text("/a", use: .cached) == "notCached 0")
    }

    @Test func aLateReplyDoesNotBringBackAnAbandonedGeneration() async throws {
        let records = records(in: state)
        let gate = Gate("the reply")
        state.delayNextReply(to: .record, until: gate)
        let late = Task { try await records.generation() }
        await eventually { state.count(of: .record) == 1 }
        records.abandon()
        let new = try await records.generation()
        #expect(new > 0)
        gate.open()
        #expect(try await late.value == new)
        #expect(try await records.generation() == new)
    }

    @Test func theLaterOfTwoNewGenerationsIsUsed() async throws {
        let records = records(in: state)
        records.abandon()
        let (gate, laterGate) = (Gate("the reply"), Gate("the later reply"))
        state.delayNextReply(to: .replace, until: gate)
        let task = Task { try await records.generation() }
        await eventually { state.count(of: .replace) == 1 }
        state.delayNextReply(to: .replace, until: laterGate)
        let laterTask = Task { try await records.generation() }
        await eventually { state.count(of: .replace) == 2 }
        gate.open()
        let number = try await task.value
        laterGate.open()
        let laterNumber = try await laterTask.value
        #expect(laterNumber > number)
        #expect(try await records.generation() == laterNumber)
    }

    @Test func recordsThatAreAbandonedWhileAGenerationBeginsAreNotUsed() async throws {
        let records = records(in: state)
        records.abandon()
        let gate = Gate("the reply")
        state.delayNextReply(to: .replace, until: gate)
        let task = Task { try await records.generation() }
        await eventually { state.count(of: .replace) == 1 }
        // Another instance already uses the new generation.
        let key = SharedStateKey("a/generation", in: "n")
        let first = try await state.record(for: key, within: .seconds(1)).version
        records.abandon()
        gate.open()
        #expect(try await task.value > first)
    }

    @Test func aCallDoesNotWaitForTheStoreBeyondItsDeadline() async throws {
        world.says("one", "private, max-age=600")
        let gate = Gate("the store")
        state.hang(at: gate)
        let api = world.api(
            over: world.server.caching(in: storage()),
            timeouts: Timeouts(overall: .seconds(3))
        )
        let (text, _) = try await world.clock.moving { await api.text() }
        #expect(text == "deadlineExceeded 0")
        #expect(world.clock.now == .seconds(3))
        gate.open()
    }

    @Test func recordsExpireInTheStore() async {
        world.says("one", "private, max-age=86400")
        let first = storage(lifetime: .seconds(30))
        _ = await world.api(storage: first).text()
        await isWritten(first)
        world.clock.advance(by: .seconds(29))
        #expect(await world.api(storage: storage()).text() == "one, fresh")
        world.clock.advance(by: .seconds(1))
        #expect(await world.api(storage: storage()).text() == "one")
    }

    @Test func aRecordInAFolderIsUsedByAnotherInstance() async throws {
        let folder = try TemporaryFolder()
        let key = CacheKey(digest: Array(0..<32))
        func storage() throws -> SharedCacheStorage {
            SharedCacheStorage(
                named: "a",
                in: try FolderSharedState(folder: folder.file("state")),
                digestKey: digestKey,
                sealedBy: { $0 },
                openedBy: { $0 },
                operationLimit: .seconds(60)
            )
        }
        let first = try storage()
        first.update(key) { _ in Data("text".utf8) }
        await isWritten(first)
        #expect(try await storage().record(for: key) == Data("text".utf8))
    }

    @Test func anInstanceThatChangedARecordSeesALaterChangeOfAnotherOne() async {
        let (first, second) = (storage(), storage())
        let key = CacheKey(digest: Array(0..<32))
        #expect(await first.record(for: key) == nil)
        first.update(key) { _ in Data([1]) }
        await isWritten(first)
        second.update(key) { _ in Data([2]) }
        await isWritten(second)
        world.clock.advance(by: .seconds(10))
        #expect(await first.record(for: key) == Data([2]))
    }

    @Test func theStateIsAskedAgainOneSecondAfterAFailure() async {
        let storage = storage()
        let key = CacheKey(digest: Array(0..<32))
        state.fail()
        _ = await storage.record(for: key)
        let count = state.count(of: .record)
        world.clock.advance(by: .milliseconds(999))
        _ = await storage.record(for: key)
        #expect(state.count(of: .record) == count)
        world.clock.advance(by: .milliseconds(1))
        _ = await storage.record(for: key)
        #expect(state.count(of: .record) == count + 1)
    }

    @Test func atMost64ChangesAreWrittenAtTheSameTime() async {
        let gate = Gate("the store")
        state.hang(at: gate)
        let storage = storage()
        for number in 0..<65 {
            storage.update(CacheKey(digest: Array(repeating: UInt8(number), count: 32))) { _ in Data() }
        }
        #expect(storage.writeCount == 64)
        gate.open()
        await isWritten(storage)
    }
}
