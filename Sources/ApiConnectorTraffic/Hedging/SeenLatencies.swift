// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The latencies of the last calls, per route and host.
final class SeenLatencies: Sendable {
    struct Key: Hashable {
        let origin: HTTPOrigin
        let method: HTTPMethod
        let route: String
    }

    static let sampleCount = 128
    static let minimumCount = 20
    /// The largest number of routes: for each new one above it, an old one is forgotten.
    static let maximumCount = 256

    private struct Samples {
        var durations: [Duration] = []
        private var next = 0

        /// Adds a latency; replaces the oldest one once there are ``sampleCount``.
        mutating func add(_ duration: Duration) {
            if durations.count < sampleCount {
                durations.append(duration)
            } else {
                durations[next] = duration
                next = (next + 1) % sampleCount
            }
        }
    }

    private let samples = Protected<[Key: Samples]>([:])

    /// The number of known routes.
    var count: Int { samples.withLock { $0.count } }

    func add(_ duration: Duration, to key: Key) {
        samples.withLock { samples in
            if samples[key] == nil, samples.count >= Self.maximumCount { samples.remove(at: samples.startIndex) }
            samples[key, default: Samples()].add(duration)
        }
    }

    /// The percentile of the latencies; nil while too few are known.
    func percentile(_ part: Double, of key: Key) -> Duration? {
        let durations = samples.withLock { $0[key]?.durations ?? [] }
        guard durations.count >= Self.minimumCount else { return nil }
        let place = Int((Double(durations.count) * min(max(part, 0), 1)).rounded(.up))
        return durations.sorted()[min(max(place, 1), durations.count) - 1]
    }
}

extension SeenLatencies.Key {
    /// Returns nil for a request that cannot be sent.
    init?(_ request: ApiRequest) {
        guard let origin = HTTPOrigin(request.url) else { return nil }
        self.init(origin: origin, method: request.method, route: request.routeName ?? "")
    }
}
