// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Counts calls and their durations in memory, by method, route and outcome.
///
/// The memory is bounded: when the limit of ``init(maximumLabelCount:)`` is reached, further combinations share the
/// label ``CallMetrics/Label/other``.
public final class CallMetrics: CallObserver {
    /// A combination of method, route and outcome that is counted separately.
    public struct Label: Sendable, Hashable {
        /// The method.
        public let method: String
        /// The route's name; `-` for a request without a route.
        public let route: String
        /// The outcome; see ``CallEvent/Outcome/label``.
        public let outcome: String

        /// The label of all combinations beyond the limit.
        public static let other = Label(method: "other", route: "other", outcome: "other")

        /// Makes a label.
        public init(method: String, route: String, outcome: String) {
            self.method = method
            self.route = route
            self.outcome = outcome
        }
    }

    /// The counters of one label.
    public struct Series: Sendable, Hashable {
        /// The number of calls.
        public fileprivate(set) var callCount = 0
        /// The number of attempts.
        public fileprivate(set) var attemptCount = 0
        /// The number of bytes in the responses' bodies.
        public fileprivate(set) var byteCount = 0
        /// The total duration.
        public fileprivate(set) var elapsed: Duration = .zero
        /// The number of calls per bucket.
        ///
        /// A bucket counts the calls that took at most its bound in ``CallMetrics/bounds`` and longer than the previous
        /// bound. The last bucket counts the calls that took longer than all bounds.
        public fileprivate(set) var histogram = [Int](repeating: 0, count: CallMetrics.bounds.count + 1)
    }

    /// The upper bounds of the histograms' buckets, from 5 milliseconds to 10 seconds.
    public static let bounds: [Duration] =
        [5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000].map { .milliseconds($0) }

    private let maximumLabelCount: Int
    private let series = Locked<[Label: Series]>([:])

    /// Makes counters that start at zero.
    ///
    /// - Parameter maximumLabelCount: The maximum number of labels, without ``Label/other``; 500 by default.
    public init(maximumLabelCount: Int = 500) {
        self.maximumLabelCount = maximumLabelCount
    }

    /// The counters so far.
    public var snapshot: [Label: Series] { series.withLock { $0 } }

    /// Counts a call that has ended.
    public func handle(_ event: CallEvent) {
        guard case .finished(let totals) = event.kind else { return }
        let label = Label(
            method: event.method.rawValue,
            route: event.route ?? "-",
            outcome: totals.outcome.label
        )
        series.withLock { series in
            let isKnown = series[label] != nil || series.count < maximumLabelCount
            series[isKnown ? label : .other, default: Series()].add(totals)
        }
    }
}

extension CallMetrics.Series {
    fileprivate mutating func add(_ totals: CallTotals) {
        callCount += 1
        attemptCount += totals.attemptCount
        byteCount += totals.byteCount
        elapsed += totals.elapsed
        histogram[CallMetrics.bounds.firstIndex { totals.elapsed <= $0 } ?? CallMetrics.bounds.count] += 1
    }
}
