// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// The rules of shared state, for each store.
struct SharedStateTests {
    enum Store: CaseIterable {
        case memory, folder
    }

    private let clock = ManualClock()
    private let folder: TemporaryFolder
    private let key = SharedStateKey("accounts", in: "tests")
    private let limit = Duration.seconds(1)

    init() throws {
        folder = try TemporaryFolder()
    }

    private func open(_ store: Store) throws -> any SharedState {
        switch store {
        case .memory: MemorySharedState(timeSource: clock)
        case .folder: try FolderSharedState(folder: folder.url, timeSource: clock)
        }
    }

    @Test(arguments: Store.allCases) func aRecordIsReplacedOnlyWithItsCurrentVersion(_ store: Store) async throws {
        let state = try open(store)
        let first = try await state.record(for: key, within: limit)
        #expect(first.data == nil)
        func replace(_ text: String?, _ version: UInt64) async throws -> UInt64? {
            let data = text.map { Data($0.utf8) }
            return try await state.replaceRecord(with: data, for: key, ifVersion: version, lifetime: nil, within: limit)
        }
        let second = try #require(try await replace("one", first.version))
        #expect(second != first.version)
        #expect(try await replace("two", first.version) == nil)
        #expect(
            try await state.record(for: key, within: limit) == SharedRecord(version: second, data: Data("one".utf8))
        )
        let third = try #require(try await replace(nil, second))
        #expect(try await state.record(for: key, within: limit) == SharedRecord(version: third, data: nil))
        // A removed record is not new again.
        #expect(try await replace("three", first.version) == nil)
    }

    @Test(arguments: Store.allCases) func aRecordLivesForItsLifetime(_ store: Store) async throws {
        let state = try open(store)
        let data = Data("x".utf8)
        let version = try #require(
            try await state.replaceRecord(with: data, for: key, ifVersion: 0, lifetime: .seconds(5), within: limit)
        )
        clock.advance(by: .milliseconds(4999))
        #expect(try await state.record(for: key, within: limit).data == data)
        clock.advance(by: .milliseconds(1))
        #expect(try await state.record(for: key, within: limit) == SharedRecord(version: version, data: nil))
    }

    @Test func memoryDoesNotGrowWithoutBound() {
        let state = MemorySharedState(timeSource: clock)
        func replace(_ name: String, for lifetime: Duration?) {
            let key = SharedStateKey(name, in: "tests")
            _ = state.replaceRecord(with: Data(), for: key, ifVersion: 0, lifetime: lifetime, within: limit)
        }
        _ = state.record(for: key, within: limit)
        #expect(state.entryCount == 0)
        replace("session", for: nil)
        for number in 1..<1023 { replace("\(number)", for: .seconds(1)) }
        clock.advance(by: .seconds(86_400))
        #expect(state.entryCount == 1023)
        clock.advance(by: .seconds(1))
        replace("new", for: .seconds(1))
        #expect(state.entryCount == 2)
        #expect(state.record(for: SharedStateKey("session", in: "tests"), within: limit).data != nil)
        #expect(state.record(for: SharedStateKey("1", in: "tests"), within: limit).version == 0)
    }

    @Test(arguments: Store.allCases) func oneOwnerHasALease(_ store: Store) async throws {
        let state = try open(store)
        func acquire(_ owner: String) async throws -> SharedLease? {
            try await state.acquireLease(of: key, owner: owner, for: .seconds(10), within: limit)
        }
        let first = try #require(try await acquire("a"))
        #expect(try await acquire("b") == nil)
        clock.advance(by: .seconds(8))
        #expect(try await acquire("a") == first)
        clock.advance(by: .seconds(8))
        #expect(try await acquire("b") == nil)
        clock.advance(by: .seconds(2))
        let second = try #require(try await acquire("b"))
        #expect(second.number > first.number)
        // An expired lease does not end the lease of another owner.
        try await state.endLease(first, within: limit)
        #expect(try await acquire("a") == nil)
        try await state.endLease(second, within: limit)
        let third = try #require(try await acquire("a"))
        #expect(third.number > second.number)
        // Nor does an earlier lease of the same owner.
        try await state.endLease(first, within: limit)
        #expect(try await acquire("b") == nil)
    }

    @Test(arguments: Store.allCases) func tokensComeBackOneByOne(_ store: Store) async throws {
        let state = try open(store)
        let rate = RequestRate(10, per: .seconds(1), burstCount: 5)
        func take(_ count: Int, ahead: Duration = .zero) async throws -> SharedTokens {
            try await state.takeTokens(count, of: key, at: rate, ahead: ahead, within: limit)
        }
        #expect(try await take(3) == SharedTokens(readyCount: 3))
        #expect(try await take(3) == SharedTokens(readyCount: 2, wait: .milliseconds(100)))
        clock.advance(by: .milliseconds(60))
        #expect(try await take(1) == SharedTokens(readyCount: 0, wait: .milliseconds(40)))
        clock.advance(by: .milliseconds(40))
        #expect(try await take(1) == SharedTokens(readyCount: 1))
        clock.advance(by: .seconds(3600))
        #expect(try await take(9) == SharedTokens(readyCount: 5, wait: .milliseconds(100)))
        #expect(try await take(0) == SharedTokens(readyCount: 0))
    }

    @Test(arguments: Store.allCases) func tokensAreTakenAheadAsFarAsTheHorizon(_ store: Store) async throws {
        let state = try open(store)
        let rate = RequestRate(10, per: .seconds(1), burstCount: 2)
        func take(_ count: Int, ahead: Duration) async throws -> SharedTokens {
            try await state.takeTokens(count, of: key, at: rate, ahead: ahead, within: limit)
        }
        let first = try await take(6, ahead: .milliseconds(300))
        #expect(first == SharedTokens(readyCount: 2, aheadCount: 3, wait: .milliseconds(100)))
        // They are taken, so the next request comes after them.
        let none = try await take(6, ahead: .milliseconds(300))
        #expect(none == SharedTokens(readyCount: 0, wait: .milliseconds(400)))
        let second = try await take(2, ahead: .milliseconds(500))
        #expect(second == SharedTokens(readyCount: 0, aheadCount: 2, wait: .milliseconds(400)))
        clock.advance(by: .milliseconds(600))
        #expect(try await take(3, ahead: .zero) == SharedTokens(readyCount: 1, wait: .milliseconds(100)))
    }

    @Test(arguments: Store.allCases) func aBucketOnHoldGrantsNothing(_ store: Store) async throws {
        let state = try open(store)
        let rate = RequestRate(10, per: .seconds(1))
        func take() async throws -> SharedTokens {
            try await state.takeTokens(1, of: key, at: rate, ahead: .seconds(60), within: limit)
        }
        try await state.holdTokens(of: key, for: .seconds(3), within: limit)
        try await state.holdTokens(of: key, for: .seconds(1), within: limit)
        #expect(try await take() == SharedTokens(readyCount: 0, wait: .seconds(3), isOnHold: true))
        clock.advance(by: .seconds(3))
        #expect(try await take() == SharedTokens(readyCount: 1))
    }

    @Test(arguments: Store.allCases) func ownersShareThePlacesOfALimit(_ store: Store) async throws {
        let state = try open(store)
        func take(_ count: Int, _ owner: String, using usedCount: Int = 0) async throws -> SharedPlaces {
            try await state.takePlaces(
                count,
                of: 10,
                for: key,
                owner: owner,
                using: usedCount,
                lasting: .seconds(20),
                within: limit
            )
        }
        #expect(try await take(10, "a") == SharedPlaces(count: 10, isContended: false))
        #expect(try await take(4, "b") == SharedPlaces(count: 0, isContended: true))
        // The owner keeps the places that it uses, and others get the places that it gives back.
        #expect(try await take(10, "a", using: 8) == SharedPlaces(count: 6, isContended: true))
        #expect(try await take(4, "b") == SharedPlaces(count: 2, isContended: true))
        #expect(try await take(10, "a", using: 6) == SharedPlaces(count: 6, isContended: true))
        #expect(try await take(4, "b", using: 2) == SharedPlaces(count: 4, isContended: true))
        #expect(try await take(6, "a", using: 6) == SharedPlaces(count: 6, isContended: false))
        // The places of an owner that does not ask again come back.
        clock.advance(by: .seconds(19))
        #expect(try await take(4, "b", using: 4) == SharedPlaces(count: 4, isContended: false))
        #expect(try await take(6, "c") == SharedPlaces(count: 0, isContended: true))
        clock.advance(by: .seconds(1))
        #expect(try await take(6, "c") == SharedPlaces(count: 6, isContended: false))
        #expect(try await take(0, "b") == SharedPlaces(count: 0, isContended: false))
        #expect(try await take(9, "c", using: 6) == SharedPlaces(count: 9, isContended: false))
        try await state.holdTokens(of: key, for: .seconds(3), within: limit)
        #expect(
            try await take(9, "c", using: 9) == SharedPlaces(count: 9, isContended: false, hold: .seconds(3))
        )
    }

    @Test(arguments: Store.allCases) func ownersTakeTurnsAtAPlace(_ store: Store) async throws {
        let state = try open(store)
        var owners: [String] = []
        for _ in 0..<90 {
            for owner in ["a", "b", "c"] {
                let places = try await state.takePlaces(
                    1,
                    of: 1,
                    for: key,
                    owner: owner,
                    using: 0,
                    lasting: .seconds(30),
                    within: limit
                )
                if places.count == 1 { owners.append(owner) }
            }
            clock.advance(by: .milliseconds(500))
        }
        // A turn lasts 1.5 seconds, and an owner gives its place back before another one gets it.
        for owner in ["a", "b", "c"] { #expect(owners.count { $0 == owner } >= 18, "\(owners)") }
    }

    @Test(arguments: Store.allCases) func keysAreSeparate(_ store: Store) async throws {
        let state = try open(store)
        let keys = [
            SharedStateKey("a", in: "b"), SharedStateKey("b", in: "a"), SharedStateKey("a/b", in: "c"),
            SharedStateKey("b", in: "c/a"), SharedStateKey("b", in: "c%2Fa"), SharedStateKey("../../x", in: ""),
        ]
        for (number, key) in keys.enumerated() {
            let data = Data("\(number)".utf8)
            _ = try await state.replaceRecord(with: data, for: key, ifVersion: 0, lifetime: nil, within: limit)
        }
        for (number, key) in keys.enumerated() {
            #expect(try await state.record(for: key, within: limit).data == Data("\(number)".utf8), "\(key)")
        }
    }

    @Test(arguments: Store.allCases) func impossibleNumbersDoNotTrap(_ store: Store) async throws {
        let state = try open(store)
        for length in [Duration.zero, .seconds(-1), .seconds(Int64.max)] {
            for count in [Int.min, -1, 0, .max] {
                let rate = RequestRate(count, per: length, burstCount: count)
                _ = try await state.takeTokens(count, of: key, at: rate, ahead: length, within: limit)
            }
            try await state.holdTokens(of: key, for: length, within: limit)
            for count in [Int.min, -1, 0, .max] {
                for owner in ["a", "b"] {
                    _ = try await state.takePlaces(
                        count,
                        of: .max,
                        for: key,
                        owner: owner,
                        using: count,
                        lasting: length,
                        within: limit
                    )
                }
            }
        }
        for duration in [Duration.zero, .seconds(Int64.min), .seconds(Int64.max)] {
            _ = try await state.acquireLease(of: key, owner: "a", for: duration, within: limit)
            let version = try await state.record(for: key, within: limit).version
            _ = try await state.replaceRecord(
                with: Data(),
                for: key,
                ifVersion: version,
                lifetime: duration,
                within: limit
            )
        }
    }

    @Test func settingTheClockBackMakesNoClaimToPlacesLonger() {
        var entry = SharedPlacesEntry()
        func take(_ owner: String, now: Int64) -> Int {
            entry.take(10, of: 10, owner, using: 0, lasting: 100, now: now).count
        }
        #expect(take("a", now: 1_000) == 10)
        #expect(take("b", now: 0) == 0)
        #expect(take("b", now: 100) == 10)
    }

    @Test func settingTheClockBackMakesNoHoldShorterThanItsLongestPart() {
        var entry = SharedEntry()
        entry.hold(.seconds(10), now: 0)
        entry.hold(.seconds(5), now: 5_000_000)
        let tokens = entry.take(1, at: RequestRate(1, per: .seconds(1)), ahead: .zero, now: 2_000_000)
        #expect(tokens == SharedTokens(readyCount: 0, wait: .seconds(8), isOnHold: true))
    }

    @Test func aVersionIsValidUpToHalfOfItsRange() throws {
        func isValid(_ version: UInt64) throws -> Bool {
            let text = #"{"version":\#(version),"leaseNumber":0,"fullTime":0,"holdEnd":0,"holdLength":0}"#
            return try JSONDecoder().decode(SharedEntry.self, from: Data(text.utf8)).isValid
        }
        #expect(try isValid(.max / 2))
        #expect(try !isValid(.max / 2 + 1))
    }
}
