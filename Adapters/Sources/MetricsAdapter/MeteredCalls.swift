// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector
public import Metrics

/// Records calls with swift-metrics, under the names of OpenTelemetry's conventions for HTTP clients.
///
/// ```swift
/// let provider = SystemProvider().observing(by: MeteredCalls())
/// ```
///
/// | Label | Value |
/// |---|---|
/// | `http.client.request.duration` | The duration of a call, with all attempts. |
/// | `http.client.request.time_in_queue` | The time that the last attempt waited for a connection or a limit. |
/// | `dns.lookup.duration` | The duration of the last attempt's DNS lookup. |
/// | `http.client.phase.duration` | The duration of each other phase, named by `http.client.phase`. |
/// | `http.client.request.body.size`, `http.client.response.body.size` | The bytes on the wire. |
/// | `http.client.attempts` | The number of attempts; a cache hit adds 0. |
///
/// `http.client.phase.duration` is not part of OpenTelemetry's conventions.
///
/// The dimensions are `http.request.method`, `server.address`, `server.port`, `url.template`,
/// `http.response.status_code` and `error.type`. Their cardinality is low, because a route's name does not contain the
/// route's values. A program that calls many hosts has a series for each host.
public struct MeteredCalls: CallObserver {
    private let prefix: String
    private let factory: any MetricsFactory

    /// Makes the observer.
    ///
    /// - Parameters:
    ///   - prefix: The prefix of the labels; `http.client` by default.
    ///   - factory: The factory for the metrics; nil, the default, is the process's factory.
    public init(prefix: String = "http.client", factory: (any MetricsFactory)? = nil) {
        self.prefix = prefix
        self.factory = factory ?? MetricsSystem.factory
    }

    /// Whether there is a factory that keeps metrics.
    public var isListening: Bool { !(factory is NOOPMetricsHandler) }

    /// Records a finished call.
    public func handle(_ event: CallEvent) {
        guard case .finished(let totals) = event.kind else { return }
        let dimensions = dimensions(event, totals.outcome)
        Counter(label: "\(prefix).attempts", dimensions: dimensions, factory: factory)
            .increment(by: totals.attemptCount)
        record(totals.elapsed, "\(prefix).request.duration", dimensions)
        let times = totals.times
        record(
            times?.responseBodyByteCount ?? Int64(totals.byteCount),
            "\(prefix).response.body.size",
            dimensions
        )
        guard let times else { return }
        if let count = times.requestBodyByteCount { record(count, "\(prefix).request.body.size", dimensions) }
        for phase in TransportTimes.Phase.allCases {
            guard let duration = times[phase] else { continue }
            switch phase {
            case .waiting: record(duration, "\(prefix).request.time_in_queue", dimensions)
            case .nameLookup: record(duration, "dns.lookup.duration", dimensions)
            default:
                let named = dimensions + [("\(prefix).phase", phase.rawValue)]
                record(duration, "\(prefix).phase.duration", named)
            }
        }
    }

    private func dimensions(_ event: CallEvent, _ outcome: CallEvent.Outcome) -> [(String, String)] {
        var dimensions = [("http.request.method", event.method.rawValue)]
        if let origin = event.origin {
            // An IPv6 address has no brackets here.
            dimensions.append(("server.address", origin.host.filter { !"[]".contains($0) }))
            dimensions.append(("server.port", "\(origin.port)"))
        }
        dimensions.append(("url.template", event.route ?? "-"))
        if let status = outcome.status {
            dimensions.append(("http.response.status_code", "\(status.rawValue)"))
            if outcome.isFailure { dimensions.append(("error.type", "\(status.rawValue)")) }
        } else {
            dimensions.append(("error.type", outcome.label))
        }
        return dimensions
    }

    private func record(_ duration: Duration, _ label: String, _ dimensions: [(String, String)]) {
        Metrics.Timer(label: label, dimensions: dimensions, factory: factory)
            .recordNanoseconds(Int64(duration / .nanoseconds(1)))
    }

    private func record(_ byteCount: Int64, _ label: String, _ dimensions: [(String, String)]) {
        Recorder(label: label, dimensions: dimensions, factory: factory).record(byteCount)
    }
}
