// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Counts calls and how long they took, in memory: by method, route and outcome.
///
/// Its memory is bounded: past ``init(maximumLabelCount:)``'s limit further combinations share one label,
/// ``CallMetrics/Label/other``.
public final class CallMetrics: CallObserver {
    /// What is counted apart.
    public struct Label: Sendable, Hashable {
        /// The method.
        public let method: String
        /// The route's name; `-` for a request made by hand.
        public let route: String
        /// The outcome; see ``CallOutcome/label``.
        public let outcome: String

        /// What there was no room for.
        public static let other = Label(method: "other", route: "other", outcome: "other")

        /// Makes a label.
        public init(method: String, route: String, outcome: String) {
            self.method = method
            self.route = route
            self.outcome = outcome
        }
    }

    /// What the calls of one label come to.
    public struct Series: Sendable, Hashable {
        /// How many calls there were.
        public fileprivate(set) var callCount = 0
        /// How often they were sent.
        public fileprivate(set) var attemptCount = 0
        /// How many bytes of their bodies came.
        public fileprivate(set) var byteCount = 0
        /// How long they took together.
        public fileprivate(set) var elapsed: Duration = .zero
        /// How many took at most as long as each of ``CallMetrics/bounds`` and longer than the one before, and behind
        /// them how many took longer than all.
        public fileprivate(set) var histogram = [Int](repeating: 0, count: CallMetrics.bounds.count + 1)
    }

    /// The upper bounds of the histograms' buckets, from 5 milliseconds to 10 seconds.
    public static let bounds: [Duration] =
        [5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000].map { .milliseconds($0) }

    private let maximumLabelCount: Int
    private let series = Locked<[Label: Series]>([:])

    /// Makes counters that stand at zero.
    ///
    /// - Parameter maximumLabelCount: The most labels that are kept apart; 500 by default.
    public init(maximumLabelCount: Int = 500) {
        self.maximumLabelCount = maximumLabelCount
    }

    /// What has been counted so far.
    public var snapshot: [Label: Series] { series.withLock { $0 } }

    /// Counts a call that is over.
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
