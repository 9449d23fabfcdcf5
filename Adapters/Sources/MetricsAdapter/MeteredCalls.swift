// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector
public import Metrics

/// Hands how long calls took and how often they were sent to swift-metrics, by method, route and outcome.
///
/// ```swift
/// let provider = SystemProvider().observing(by: MeteredCalls())
/// ```
///
/// The dimensions are low in cardinality as long as methods and routes are: a route's name has none of its values.
public struct MeteredCalls: CallObserver {
    private let prefix: String
    private let factory: any MetricsFactory

    /// Makes the observer.
    ///
    /// - Parameters:
    ///   - prefix: How the labels begin; `http.client` by default.
    ///   - factory: Who makes the metrics; nil, the default, is the process's own.
    public init(prefix: String = "http.client", factory: (any MetricsFactory)? = nil) {
        self.prefix = prefix
        self.factory = factory ?? MetricsSystem.factory
    }

    /// Records a call that is over.
    public func handle(_ event: CallEvent) {
        guard case .finished(let totals) = event.kind else { return }
        let dimensions = [
            ("method", event.method.rawValue), ("route", event.route ?? "-"), ("outcome", totals.outcome.label),
        ]
        Counter(label: "\(prefix).attempts", dimensions: dimensions, factory: factory)
            .increment(by: totals.attemptCount)
        Metrics.Timer(label: "\(prefix).duration", dimensions: dimensions, factory: factory)
            .recordNanoseconds(Int64(totals.elapsed / .nanoseconds(1)))
        Recorder(label: "\(prefix).bytes", dimensions: dimensions, factory: factory).record(totals.byteCount)
    }
}
