// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Two contenders that take short turns next to each other: A B, B A, A B ….
///
/// The order alternates, so that a machine that becomes slower or faster affects both equally.
enum PairedTurns {
    /// The largest number of times that the planned number of pairs is measured.
    static let maximumBatchCount = 4

    /// Measures pairs until the interval of each figure's median is narrow, but at most four times the planned number.
    ///
    /// When the measurement ends depends only on the width of the intervals, not on their position. So the end favors
    /// no result.
    ///
    /// - Parameters:
    ///   - width: The width of a narrow interval.
    ///   - pair: Measures one pair, and returns its figures, such as ratios. It is passed whether A has the first turn.
    /// - Returns: The figures of all pairs but the first, by their place in a pair's result.
    @concurrent
    static func figures(
        pairCount: Int,
        width: Double,
        _ pair: (_ isFirstA: Bool) async throws -> [Double]
    ) async throws -> [[Double]] {
        // The connections are opened in a pair that does not count.
        var figures = try await pair(true).map { _ in [Double]() }
        for _ in 0..<maximumBatchCount {
            for index in 0..<pairCount {
                for (place, figure) in try await pair(index.isMultiple(of: 2)).enumerated() {
                    figures[place].append(figure)
                }
            }
            if figures.allSatisfy({ MedianInterval(of: $0).width <= width }) { break }
        }
        return figures
    }
}

/// The interval that contains the median of a distribution in 95 % of all runs, by the sign test.
///
/// It assumes no distribution, so it also applies to the figures of a busy machine.
struct MedianInterval: Equatable {
    let lower: Double
    let upper: Double

    var width: Double { upper - lower }

    /// With fewer than six values, no interval is certain enough, and this is infinite.
    init(of values: [Double]) {
        let sorted = values.sorted()
        let skipped = Self.skippedCount(of: sorted.count)
        guard skipped > 0, skipped <= sorted.count / 2 else {
            (lower, upper) = (-.infinity, .infinity)
            return
        }
        (lower, upper) = (sorted[skipped - 1], sorted[sorted.count - skipped])
    }

    /// The largest *k* for which fewer than *k* of `count` fair coins show heads with a probability of at most 2.5 %.
    private static func skippedCount(of count: Int) -> Int {
        var probability = exp2(-Double(count))
        var total = 0.0
        for heads in 0..<count {
            total += probability
            if total > 0.025 { return heads }
            probability *= Double(count - heads) / Double(heads + 1)
        }
        return 0
    }
}
