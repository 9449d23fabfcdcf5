// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// The limit over a server of known capacity.
@Suite(.timeLimit(.minutes(10))) struct AdaptiveLimitTests {}

extension AdaptiveLimitTests {
    private static let seeds: [UInt64] = [1, 2, 3]

    /// Counts are whole numbers: below a capacity of 10, one more or less is more than a tenth.
    private func isClose(_ count: Int, _ capacity: Int) -> Bool {
        abs(count - capacity) <= max(1, capacity / 10)
    }

    @Test(arguments: [1, 2, 7, 20, 100, 400], seeds) func isWithinATenthOfTheCapacityAfter50RoundTrips(
        _ capacity: Int,
        _ seed: UInt64
    ) {
        var run = CapacityRun([.adaptive()], .refusing, capacity: capacity, seed: seed)
        _ = run.run(roundTrips: 50)
        let counts = run.run(roundTrips: 100).map { $0[0] }
        #expect(counts.allSatisfy { isClose($0, capacity) }, "\(counts)")
        let swing = (counts.max() ?? 0) - (counts.min() ?? 0)
        #expect(swing <= max(1, capacity / 5), "\(counts)")
    }

    @Test(arguments: seeds) func followsACapacityThatChanges(_ seed: UInt64) {
        var run = CapacityRun([.adaptive()], .refusing, capacity: 100, seed: seed)
        for capacity in [100, 300, 60, 250, 20, 100] {
            run.change(capacity: capacity)
            _ = run.run(roundTrips: 50)
            let counts = run.run(roundTrips: 50).map { $0[0] }
            #expect(counts.allSatisfy { isClose($0, capacity) }, "\(capacity): \(counts)")
        }
    }

    @Test(arguments: seeds) func twoClientsGetEqualShares(_ seed: UInt64) {
        let limits: [RequestLimit.Concurrency] = [.adaptive(initialCount: 90), .adaptive(initialCount: 10)]
        var run = CapacityRun(limits, .refusing, capacity: 100, seed: seed)
        _ = run.run(roundTrips: 200)
        let counts = run.run(roundTrips: 200)
        let shares = (0..<2).map { client in Double(counts.reduce(0) { $0 + $1[client] }) / 200 }
        #expect(shares.allSatisfy { 40...60 ~= $0 }, "\(shares)")
        #expect(85...105 ~= shares[0] + shares[1], "\(shares)")
    }

    @Test(arguments: seeds) func theCapacityOfAQueuingServerIsFoundByLatency(_ seed: UInt64) {
        var run = CapacityRun([.adaptive(latencyTolerance: 1.5)], .queuing, capacity: 100, seed: seed)
        for capacity in [100, 200, 100] {
            run.change(capacity: capacity)
            _ = run.run(roundTrips: 100)
            let counts = run.run(roundTrips: 50).map { $0[0] }
            let average = counts.reduce(0, +) / counts.count
            #expect(capacity...(capacity * 5 / 3) ~= average, "\(capacity): \(counts)")
            #expect(counts.allSatisfy { $0 <= capacity * 7 / 4 }, "\(capacity): \(counts)")
        }
    }

    @Test func staysWithinItsRange() {
        var low = CapacityRun([.adaptive(in: 5...8)], .refusing, capacity: 1, seed: 1)
        #expect(low.run(roundTrips: 100).suffix(50).allSatisfy { $0 == [5] })
        var high = CapacityRun([.adaptive(in: 5...8)], .refusing, capacity: 100, seed: 1)
        #expect(high.run(roundTrips: 100).suffix(50).allSatisfy { $0 == [8] })
        var fixed = CapacityRun([5], .refusing, capacity: 1, seed: 1)
        #expect(fixed.run(roundTrips: 20).allSatisfy { $0 == [5] })
    }
}

/// The rules, one by one.
struct AdaptiveCountTests {
    private var count = AdaptiveCount(.adaptive(initialCount: 10))
    private var number = 0

    /// Requests of one round trip, all started before the first ends.
    private mutating func round(_ outcomes: [AdaptiveCount.Outcome], latency: Duration = .seconds(1)) {
        let first = number + 1
        number += outcomes.count
        for (index, outcome) in outcomes.enumerated() {
            count.end(first + index, outcome, latency: latency, lastNumber: number)
        }
    }

    @Test mutating func anUnusedLimitDoesNotGrow() {
        for _ in 0..<20 { round([.success, .success]) }
        #expect(count.count == 10)
        count.useUp()
        round([.success, .success])
        #expect(count.count > 10)
    }

    @Test mutating func theFailuresOfOneRoundTripDecreaseItOnce() {
        round([.overload, .overload, .overload])
        #expect(count.count == 9)
        round([.overload])
        #expect(count.count == 8)
        round([.overload])
        #expect(count.count == 7)
    }

    @Test mutating func aRequestThatWasSentBeforeTheDecreaseDoesNotDecreaseItAgain() {
        number = 2
        count.end(1, .overload, latency: .seconds(1), lastNumber: 2)
        #expect(count.count == 9)
        count.end(2, .overload, latency: .seconds(1), lastNumber: 2)
        #expect(count.count == 9)
    }

    @Test mutating func aCancelIsIgnored() {
        count.useUp()
        round([.unknown, .unknown])
        #expect(count.count == 10)
    }

    @Test mutating func stepsGrowAfter8RoundTripsWithoutADecrease() {
        count = AdaptiveCount(.adaptive(initialCount: 50))
        round([.overload])
        var counts: [Int] = []
        for _ in 0..<12 {
            count.useUp()
            round([.success])
            counts.append(count.count)
        }
        #expect(counts == [46, 47, 48, 49, 50, 51, 52, 53, 54, 56, 59, 63])
    }

    /// A limit of 36 after 99 round trips of one second.
    private mutating func runUpToAProbe() {
        count = AdaptiveCount(.adaptive(initialCount: 40, latencyTolerance: 2))
        round([.overload])
        for _ in 1...99 { round([.success]) }
    }

    @Test mutating func twoOf100RoundTripsHaveHalfTheLimit() {
        runUpToAProbe()
        var counts = [count.count]
        for _ in 100...102 {
            round([.success])
            counts.append(count.count)
        }
        #expect(counts == [36, 18, 18, 36])
    }

    @Test mutating func afterAProbeTheLatencyIsComparedWithThatOfTheProbe() {
        runUpToAProbe()
        for _ in 100...102 { round([.success], latency: .seconds(3)) }
        #expect(count.count == 24)
        round([.success], latency: .seconds(3))
        #expect(count.count == 24)
    }

    @Test(arguments: [
        (RequestLimit.Concurrency.adaptive(in: -5...0), 1...1, 1), (.adaptive(in: 3...9, initialCount: 100), 3...9, 9),
        (.adaptive(in: 3...9, initialCount: .min), 3...9, 3), (.fixed(-1), 1...1, 1),
        (.fixed(.max), .max ... .max, .max),
    ]) func aBoundThatMakesNoSenseIsReplaced(
        _ concurrency: RequestLimit.Concurrency,
        _ range: ClosedRange<Int>,
        _ initialCount: Int
    ) {
        #expect(concurrency.range == range)
        #expect(concurrency.initialCount == initialCount)
        #expect(AdaptiveCount(concurrency).count == initialCount)
    }

    @Test(arguments: [0, -1, .nan, .infinity]) func anyLatencyToleranceIsSafe(_ tolerance: Double) {
        var count = AdaptiveCount(.adaptive(latencyTolerance: tolerance))
        for number in 1...500 {
            count.useUp()
            count.end(number, .success, latency: .seconds(number % 7), lastNumber: number)
            #expect(1...1000 ~= count.count)
        }
    }
}
