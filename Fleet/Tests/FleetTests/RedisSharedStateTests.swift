// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorFleet
import ApiConnectorTraffic
import Crypto
import Foundation
import Servers
import Testing

/// Tests of the store with a real Redis server.
@Suite(.enabled(if: Redis.isInstalled), .serialized, .timeLimit(.minutes(10)))
struct RedisSharedStateTests {
    private let redis: Redis
    private let state: RedisSharedState
    private let key = SharedStateKey("accounts", in: "tests")
    private let limit = Duration.seconds(600)

    init() throws {
        redis = try Redis()
        let url = "redis://:\(Redis.password)@127.0.0.1:\(redis.port)/1"
        state = RedisSharedState(try RedisServer(url: url))
    }

    private func replace(_ text: String?, _ version: UInt64, for lifetime: Duration? = nil) async throws -> UInt64? {
        let data = text.map { Data($0.utf8) }
        return try await state.replaceRecord(
            with: data,
            for: key,
            ifVersion: version,
            lifetime: lifetime,
            within: limit
        )
    }

    @Test func aRecordIsReplacedOnlyByAWriterThatKnowsItsVersion() async throws {
        #expect(try await state.record(for: key, within: limit) == SharedRecord(version: 0, data: nil))
        let first = try #require(try await replace("a\0b\r\n", 0))
        #expect(try await replace("two", 0) == nil)
        let record = try await state.record(for: key, within: limit)
        #expect(record == SharedRecord(version: first, data: Data("a\0b\r\n".utf8)))
        let second = try #require(try await replace(nil, first))
        #expect(second > first)
        #expect(try await state.record(for: key, within: limit) == SharedRecord(version: second, data: nil))
        // Versions continue to grow after all data was lost.
        try redis.run("flushall")
        let third = try #require(try await replace("three", 0))
        #expect(third > second)
    }

    @Test func aRecordLivesForItsLifetime() async throws {
        let version = try #require(try await replace("x", 0, for: .microseconds(1)))
        while true {
            let record = try await state.record(for: key, within: limit)
            #expect(record.version == version)
            if record.data == nil { break }
        }
        #expect(try await replace("y", version, for: .seconds(600)) != nil)
        #expect(try await state.record(for: key, within: limit).data == Data("y".utf8))
    }

    @Test func oneOwnerHasALease() async throws {
        func acquire(_ owner: String, _ duration: Duration = .seconds(600)) async throws -> SharedLease? {
            try await state.acquireLease(of: key, owner: owner, for: duration, within: limit)
        }
        let first = try #require(try await acquire("a"))
        #expect(try await acquire("b") == nil)
        #expect(try await acquire("a") == first)
        try await state.endLease(SharedLease(key: key, owner: "a", number: 0), within: limit)
        #expect(try await acquire("b") == nil)
        try await state.endLease(first, within: limit)
        let second = try #require(try await acquire("b", .milliseconds(1)))
        #expect(second.number > first.number)
        // The lease ends by itself.
        while try await acquire("a") == nil {}
    }

    @Test func tokensAreTakenAndTakenAhead() async throws {
        // With one token per minute, the time that the test takes does not matter.
        let rate = RequestRate(1, per: .seconds(60), burstCount: 5)
        func take(_ count: Int, ahead: Duration = .zero) async throws -> SharedTokens {
            try await state.takeTokens(count, of: key, at: rate, ahead: ahead, within: limit)
        }
        #expect(try await take(3) == SharedTokens(readyCount: 3))
        let short = try await take(3)
        #expect(short.readyCount == 2 && short.aheadCount == 0)
        #expect(short.wait > .seconds(30) && short.wait <= .seconds(60))
        let ahead = try await take(3, ahead: .seconds(130))
        #expect(ahead.readyCount == 0 && ahead.aheadCount == 2)
        let later = try await take(1)
        #expect(later.wait > .seconds(150) && later.wait <= .seconds(180))
        #expect(later.aheadCount == 0)
        try await state.holdTokens(of: key, for: .seconds(1000), within: limit)
        #expect(try await take(1, ahead: .seconds(3600)).wait > .seconds(900))
    }

    @Test func resultsReportAHold() async throws {
        let rate = RequestRate(1, per: .seconds(1), burstCount: 5)
        try await state.holdTokens(of: key, for: .seconds(1000), within: limit)
        try await state.holdTokens(of: key, for: .seconds(1), within: limit)
        let tokens = try await state.takeTokens(0, of: key, at: rate, ahead: .zero, within: limit)
        #expect(tokens.isOnHold)
        #expect(tokens.wait > .seconds(900))
        let places = try await takePlaces(5, "a")
        #expect(places.count == 5)
        #expect(places.hold > .seconds(900))
    }

    private func takePlaces(
        _ count: Int,
        _ owner: String,
        using usedCount: Int = 0,
        lasting duration: Duration = .seconds(3600)
    ) async throws -> SharedPlaces {
        try await state.takePlaces(
            count,
            of: 10,
            for: key,
            owner: owner,
            using: usedCount,
            lasting: duration,
            within: limit
        )
    }

    @Test func ownersShareThePlacesOfALimit() async throws {
        #expect(try await takePlaces(10, "a") == SharedPlaces(count: 10, isContended: false))
        #expect(try await takePlaces(4, "b") == SharedPlaces(count: 0, isContended: true))
        #expect(try await takePlaces(10, "a", using: 8) == SharedPlaces(count: 6, isContended: true))
        #expect(try await takePlaces(4, "b") == SharedPlaces(count: 2, isContended: true))
        #expect(try await takePlaces(10, "a", using: 6) == SharedPlaces(count: 6, isContended: true))
        #expect(try await takePlaces(4, "b", using: 2) == SharedPlaces(count: 4, isContended: true))
        #expect(try await takePlaces(6, "a", using: 6) == SharedPlaces(count: 6, isContended: false))
        #expect(try await takePlaces(0, "b") == SharedPlaces(count: 0, isContended: false))
        #expect(try await takePlaces(9, "a", using: 6) == SharedPlaces(count: 9, isContended: false))
        // Three owners share ten places, so one of them has one more.
        #expect(try await takePlaces(0, "a") == SharedPlaces(count: 0, isContended: false))
        for _ in 0..<2 { for owner in ["a", "b", "c"] { _ = try await takePlaces(9, owner) } }
        var counts: [Int] = []
        for owner in ["a", "b", "c"] { counts.append(try await takePlaces(9, owner).count) }
        #expect(counts.sorted() == [3, 3, 4], "\(counts)")
        // Owners can have any name.
        _ = try await takePlaces(1, "a b\n%d")
        #expect(try await takePlaces(0, "a b\n%d").count == 0)
    }

    @Test func thePlacesOfAKilledOwnerComeBack() async throws {
        #expect(try await takePlaces(10, "a", lasting: .milliseconds(1)).count == 10)
        while try await takePlaces(10, "b").count < 10 {}
        #expect(try await takePlaces(1, "a").count == 0)
    }

    @Test func eachKeyHasATimeToLive() async throws {
        let rate = RequestRate(1, per: .seconds(60), burstCount: 5)
        _ = try await replace("x", 0)
        _ = try await state.record(for: key, within: limit)
        _ = try await state.acquireLease(of: key, owner: "a", for: .seconds(60), within: limit)
        _ = try await state.takeTokens(1, of: key, at: rate, ahead: .zero, within: limit)
        try await state.holdTokens(of: key, for: .seconds(60), within: limit)
        _ = try await takePlaces(1, "a")
        #expect(try redis.keys == ["b", "d", "l", "p", "r"])
        func timeToLive(_ letter: String) throws -> Duration {
            let text = try redis.run("-n 1 pttl '{tests/accounts}\(letter)'")
            return .milliseconds(try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines))))
        }
        let day = Duration.seconds(86_400)
        #expect(try timeToLive("d") > day * 364)
        #expect(try timeToLive("r") > timeToLive("d") + day * 29)
        #expect(try timeToLive("l") > day * 29)
        #expect(try timeToLive("b") > .seconds(50) && timeToLive("b") < .seconds(70))
        #expect(try timeToLive("p") > .seconds(3500) && timeToLive("p") <= .seconds(3602))
        // A shorter time does not shorten the time to live of a key.
        _ = try await takePlaces(1, "b", lasting: .milliseconds(1))
        try await state.holdTokens(of: key, for: .seconds(1000), within: limit)
        try await state.holdTokens(of: key, for: .milliseconds(1), within: limit)
        #expect(try timeToLive("p") > .seconds(3500))
        #expect(try timeToLive("b") > .seconds(900))
        // Each read of a record without a lifetime extends its time to live.
        try redis.run("-n 1 pexpire '{tests/accounts}d' 60000")
        _ = try await state.record(for: key, within: limit)
        #expect(try timeToLive("d") > day * 364)
    }

    @Test func dataIsRemovedAfterItsLifetimeAndItsVersionIsKept() async throws {
        let version = try #require(try await replace("secret", 0, for: .milliseconds(1)))
        while try redis.keys.contains("d") {}
        #expect(try redis.keys == ["r"])
        #expect(try await state.record(for: key, within: limit) == SharedRecord(version: version, data: nil))
        // A process that has not read the version cannot replace the record, and the version continues to grow.
        #expect(try await replace("y", 0) == nil)
        #expect(try #require(try await replace("y", version)) > version)
        // Removed data leaves only the version.
        let record = try await state.record(for: key, within: limit)
        _ = try await replace(nil, record.version)
        #expect(try redis.keys == ["r"])
    }

    @Test func leaseNumbersContinueToGrowAfterALeaseEnds() async throws {
        let first = try await state.acquireLease(of: key, owner: "a", for: .seconds(600), within: limit)
        let lease = try #require(first)
        // This is the state after the clock of Redis was set back.
        let number = lease.number + 1_000_000_000_000
        try redis.run("-n 1 hset '{tests/accounts}l' number \(number)")
        try await state.endLease(SharedLease(key: key, owner: "a", number: number), within: limit)
        let second = try await state.acquireLease(of: key, owner: "b", for: .milliseconds(1), within: limit)
        #expect(try #require(second).number == number + 1)
        var third: SharedLease?
        while third == nil {
            third = try await state.acquireLease(of: key, owner: "a", for: .seconds(600), within: limit)
        }
        #expect(third?.number == number + 2)
        // The end of an older lease changes nothing.
        try await state.endLease(lease, within: limit)
        #expect(try await state.acquireLease(of: key, owner: "b", for: .seconds(1), within: limit) == nil)
    }

    @Test func aClockThatWasSetBackMakesNothingLonger() async throws {
        let rate = RequestRate(1, per: .seconds(1), burstCount: 5)
        _ = try await state.acquireLease(of: key, owner: "a", for: .milliseconds(1), within: limit)
        try await state.holdTokens(of: key, for: .milliseconds(1), within: limit)
        _ = try await takePlaces(10, "a", lasting: .milliseconds(1))
        // This is their state if they were made while the clock of Redis was one day ahead.
        let late = Int64((Date().timeIntervalSince1970 + 86_400) * 1_000_000)
        try redis.run("-n 1 hset '{tests/accounts}l' end \(late) owner a number 1 duration 1000")
        try redis.run("-n 1 hset '{tests/accounts}b' hold \(late) length 1000")
        try redis.run("-n 1 hset '{tests/accounts}p' a '10 10 \(late) 1000'")
        while try await state.acquireLease(of: key, owner: "b", for: .seconds(600), within: limit) == nil {}
        while try await state.takeTokens(1, of: key, at: rate, ahead: .zero, within: limit).isOnHold {}
        while try await takePlaces(10, "b").count < 10 {}
        // A bucket that will be full again in a millisecond has 4 of 5 tokens now.
        try redis.run("-n 1 del '{tests/accounts}b'")
        try redis.run("-n 1 hset '{tests/accounts}b' full \(late) lead 1000")
        let tokens = try await state.takeTokens(5, of: key, at: rate, ahead: .zero, within: limit)
        #expect(tokens.readyCount == 4)
        #expect(tokens.wait <= .milliseconds(1))
    }

    @Test func impossibleNumbersAreNoErrors() async throws {
        for length in [Duration.zero, .seconds(-1), .seconds(Int64.max)] {
            for count in [Int.min, -1, 0, .max] {
                let rate = RequestRate(count, per: length, burstCount: count)
                _ = try await state.takeTokens(count, of: key, at: rate, ahead: length, within: limit)
            }
            try await state.holdTokens(of: key, for: length, within: limit)
            _ = try await state.acquireLease(of: key, owner: "a", for: length, within: limit)
            for count in [Int.min, -1, 0, .max] {
                _ = try await takePlaces(count, "a", using: count, lasting: length)
            }
        }
        _ = try await state.record(for: key, within: .seconds(Int64.max))
        let error = await #expect(throws: ApiConnectorError.self) {
            try await state.record(for: key, within: .seconds(-1))
        }
        #expect(error?.kind == .sharedStateUnavailable)
    }

    @Test func manyOperationsAtOnceLoseNothing() async throws {
        let rate = RequestRate(1, per: .seconds(3600), burstCount: 500)
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<1000 {
                group.addTask { [state, key, limit] in
                    try await state.takeTokens(1, of: key, at: rate, ahead: .zero, within: limit).readyCount
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(counts == 500)
    }

    @Test func aFlushFillsBucketsAndEndsLeases() async throws {
        let rate = RequestRate(1, per: .seconds(3600), burstCount: 5)
        #expect(try await state.takeTokens(9, of: key, at: rate, ahead: .zero, within: limit).readyCount == 5)
        let lease = try await state.acquireLease(of: key, owner: "a", for: .seconds(600), within: limit)
        try redis.run("flushall")
        #expect(try await state.takeTokens(9, of: key, at: rate, ahead: .zero, within: limit).readyCount == 5)
        let next = try await state.acquireLease(of: key, owner: "b", for: .seconds(600), within: limit)
        // The number tells the owners apart.
        #expect(try #require(next).number > #require(lease).number)
        // Redis has forgotten the scripts, too.
        try redis.run("script flush")
        #expect(try await state.takeTokens(9, of: key, at: rate, ahead: .zero, within: limit).readyCount == 0)
    }

    @Test func aRedisThatIsSuspendedEndsAnOperationAtItsLimit() async throws {
        _ = try await state.record(for: key, within: limit)
        try redis.suspend()
        let error = await #expect(throws: ApiConnectorError.self) {
            try await state.record(for: key, within: .milliseconds(100))
        }
        #expect(error?.kind == .sharedStateUnavailable)
        try redis.resume()
        try await answersAgain()
    }

    @Test func aRedisThatIsStartedAgainIsUsedAgain() async throws {
        _ = try await replace("x", 0)
        try redis.restart()
        try await answersAgain()
        #expect(try await state.record(for: key, within: limit).data == nil)
    }

    /// Waits until operations succeed again.
    private func answersAgain() async throws {
        while true {
            do {
                _ = try await state.record(for: key, within: limit)
                return
            } catch {
                #expect(error.kind == .sharedStateUnavailable)
                await Task.yield()
            }
        }
    }

    @Test func aCanceledOperationEndsAtOnce() async throws {
        _ = try await state.record(for: key, within: limit)
        try redis.suspend()
        let task = Task { try await state.record(for: key, within: limit) }
        task.cancel()
        let error = await #expect(throws: ApiConnectorError.self) { try await task.value }
        #expect(error?.kind == .cancelled)
        try redis.resume()
    }

    @Test func aWrongPasswordIsNamedAndNotShown() async throws {
        let server = try RedisServer(url: "redis://:wrong-secret@127.0.0.1:\(redis.port)")
        let state = RedisSharedState(server)
        let error = await #expect(throws: ApiConnectorError.self) { try await state.record(for: key, within: limit) }
        #expect("\(error as Any)".contains("WRONGPASS"))
        #expect(!"\(error as Any)".contains("wrong-secret"))
    }

    @Test func tlsIsVerified() async throws {
        let url = "rediss://:\(Redis.password)@127.0.0.1:\(redis.securePort)"
        let trusting = RedisSharedState(try RedisServer(url: url, trustRoots: redis.certificate))
        #expect(try await trusting.record(for: key, within: limit).data == nil)
        let strict = RedisSharedState(try RedisServer(url: url))
        let error = await #expect(throws: ApiConnectorError.self) { try await strict.record(for: key, within: limit) }
        #expect(error?.kind == .sharedStateUnavailable)
    }

    @Test func twoInstancesWithOneSessionRefreshOnce() async throws {
        struct Tokens: Codable, Sendable, Equatable {
            var number: Int
        }
        let encryption = SymmetricKey(size: .bits256)
        func instance(_ key: SymmetricKey) -> SharedSession<Tokens> {
            SharedSession(named: "a", in: state, storage: .encrypted(with: key, for: "a"))
        }
        try await instance(encryption).signIn(Tokens(number: 1))
        let stored = try redis.run("-n 1 --raw get '{ApiConnector/a}d'")
        #expect(stored.count > 28 && !stored.contains("number"))
        let instances = [instance(encryption), instance(encryption)]
        for instance in instances {
            let tokens = try await instance.refreshed { old in old ?? Tokens(number: 0) }
            #expect(tokens == Tokens(number: 1))
        }
        let refreshes = Counter()
        try await withThrowingTaskGroup(of: Tokens.self) { group in
            for instance in instances {
                group.addTask {
                    try await instance.refreshed { old in
                        await refreshes.add()
                        return Tokens(number: (old?.number ?? 0) + 1)
                    }
                }
            }
            for try await tokens in group { #expect(tokens == Tokens(number: 2)) }
        }
        #expect(await refreshes.count == 1)
        // Redis evicts the data. That is not a sign-out.
        try redis.run("-n 1 del '{ApiConnector/a}d'")
        let again = try await instances[0].refreshed { old in Tokens(number: (old?.number ?? 0) + 1) }
        #expect(again == Tokens(number: 3))
        // Data cannot be decrypted with another key.
        await #expect(throws: (any Error).self) {
            try await instance(SymmetricKey(size: .bits256)).refreshed { old in old ?? Tokens(number: 0) }
        }
    }

    private actor Counter {
        private(set) var count = 0
        func add() { count += 1 }
    }
}

extension Redis {
    /// The letters of the keys in the database of the tests.
    var keys: [String] {
        get throws { try run("-n 1 --raw keys '*'").split(separator: "\n").map { String($0.suffix(1)) }.sorted() }
    }
}

/// Tests of servers' addresses.
struct RedisServerTests {
    @Test(arguments: ["", "http://h", "redis:", "redis://", "redis://h/x", "redis://h/-1", "redis://h:p", "h:6379"])
    func aWrongAddressIsRefused(_ url: String) {
        let error = #expect(throws: RedisServerError.self) { try RedisServer(url: url) }
        #expect("\(error as Any)".contains("address of Redis"))
    }

    @Test func anAddressIsRead() throws {
        let server = try RedisServer(url: "redis://ada:p%40ss@[::1]:7000/3")
        #expect(server.host == "::1")
        #expect(server.port == 7000)
    }
}
