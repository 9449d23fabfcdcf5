// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import Testing

@testable import goals

struct PairedTurnsTests {
    @Test func theOrderAlternatesAndTheFirstPairDoesNotCount() async throws {
        var orders: [Bool] = []
        let ratios = try await PairedTurns.figures(pairCount: 6, width: 0) { isFirst in
            orders.append(isFirst)
            return [orders.count == 1 ? 9 : 1.5, 2]
        }
        #expect(orders == [true, true, false, true, false, true, false])
        #expect(ratios == [Array(repeating: 1.5, count: 6), Array(repeating: 2, count: 6)])
    }

    @Test func pairsAreAddedUntilTheIntervalsAreNarrow() async throws {
        var count = 0
        let ratios = try await PairedTurns.figures(pairCount: 10, width: 1) { _ in
            count += 1
            // Wide in the first ten, and narrow when the later pairs outnumber them.
            return [count <= 11 ? Double(count) : 1, 1]
        }
        #expect(ratios[0].count == 30)
        #expect(MedianInterval(of: ratios[0]).width <= 1)
        #expect(MedianInterval(of: Array(ratios[0].prefix(20))).width > 1)
    }

    @Test func pairsEndAtFourTimesTheirNumber() async throws {
        var count = 0.0
        let ratios = try await PairedTurns.figures(pairCount: 8, width: 0.1) { _ in
            count += 1
            return [count]
        }
        #expect(ratios[0].count == 8 * PairedTurns.maximumBatchCount)
    }
}

struct MedianIntervalTests {
    /// The ranks of published tables for the sign test, both ends included.
    @Test(arguments: [(6, 1, 6), (9, 2, 8), (15, 4, 12), (20, 6, 15), (30, 10, 21), (100, 40, 61)])
    func theIntervalIsBetweenTheRanksOfTheSignTest(count: Int, lower: Int, upper: Int) {
        let interval = MedianInterval(of: (1...count).map(Double.init).shuffled())
        #expect(interval.lower == Double(lower))
        #expect(interval.upper == Double(upper))
    }

    @Test(arguments: 0...5)
    func fewerThanSixValuesAreNotCertainEnough(count: Int) {
        #expect(MedianInterval(of: (0..<count).map(Double.init)).width == .infinity)
    }

    @Test func theIntervalIgnoresHowFarOffAnOutlierIs() {
        let values = Array(repeating: 1.0, count: 29)
        #expect(MedianInterval(of: values + [1000]) == MedianInterval(of: values + [2]))
    }
}

struct TimingsCostTests {
    private func outcome(_ ratios: [Double]) -> Outcome {
        var outcome = Outcome(goal: "G18", title: "times")
        G18Timings.Cost(ofTimes: ratios).add("G1", atMost: 1, to: &outcome)
        return outcome
    }

    @Test func aCostIsMetByItsMedianAndFarOffByItsWholeInterval() throws {
        // The median is 1.5 % and the interval is 1.1 % wide.
        let ratios = (1...30).map { 1 + (Double($0) - 0.5) / 1000 }
        let short = outcome(ratios)
        #expect(short.figures.map(\.text) == ["G1, lower end 0.95 %", "G1, upper end 2.05 %"])
        #expect(short.checks.map(\.text) == ["G1 1.50 % (goal ≤ 1.00 %, short)"])
        #expect(!short.isFarOff)
        let met = outcome(ratios.map { $0 - 0.006 })
        #expect(met.checks.map(\.text) == ["G1 0.90 % (goal ≤ 1.00 %)"])
        // The lower end is 1.45 %, more than 25 % off.
        let dear = outcome(ratios.map { $0 + 0.005 })
        #expect(dear.isFarOff)
        let known = [try #require(KnownShort(argument: "G18 G1: 1.4"))]
        #expect(Judgment(of: [short], knownShort: known, isQuick: true).failures.isEmpty)
        #expect(Judgment(of: [dear], knownShort: known, isQuick: true).failures.count == 1)
    }

    @Test func fewerRequestsPerSecondAreACost() {
        let cost = G18Timings.Cost(ofRates: Array(repeating: 0.5, count: 10))
        var outcome = Outcome(goal: "G18", title: "times")
        cost.add("G1", atMost: 1, to: &outcome)
        #expect(outcome.figures.map(\.text) == ["G1, lower end 100.00 %", "G1, upper end 100.00 %"])
        #expect(outcome.checks.map(\.text) == ["G1 100.00 % (goal ≤ 1.00 %, short)"])
        #expect(outcome.isFarOff)
    }

    @Test func aFigureWithoutAGoalHasItsInterval() {
        var outcome = Outcome(goal: "G18", title: "times")
        G18Timings.Cost(ofDifferences: Array(repeating: 2, count: 10)).add("a reader", to: &outcome)
        #expect(
            outcome.figures.map(\.text)
                == ["a reader 2.00 µs", "a reader, lower end 2.00 µs", "a reader, upper end 2.00 µs"]
        )
        #expect(outcome.checks.isEmpty)
    }
}
