// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Decides which of two requests wins.
struct HedgeRace {
    typealias Answer = Result<ApiResponse, ApiConnectorError>

    enum Event: Sendable {
        case answer(Answer, isFirst: Bool)
        case isLate
    }

    enum Step {
        case wait, hedge, end
    }

    /// How much an answer says about the call, from the least.
    private enum Rank: Comparable {
        case none, failed
        /// A status that the other request causes when it succeeds: both delete a resource, and one of them gets a 404.
        case refused
        case good
    }

    var isHedged = false
    /// The statuses that a write may get because an equal one has succeeded or is still running.
    private static let refusals: Set<HTTPStatus> = [404, 409, 410, 412]

    private let policy: HedgePolicy
    private let isSafe: Bool
    private var first: Answer?
    private var second: Answer?
    private(set) var result: Answer?

    init(_ policy: HedgePolicy, isSafe: Bool) {
        self.policy = policy
        self.isSafe = isSafe
    }

    mutating func take(_ event: Event) -> Step {
        guard case .answer(let answer, let isFirst) = event else {
            return first == nil && result == nil ? .hedge : .wait
        }
        if isFirst { first = answer } else { second = answer }
        // The race is over. The body of the losing response is discarded.
        if result != nil {
            answer.discardBody()
            return .wait
        }
        guard rank(of: answer) == .good || !isHedged || first != nil && second != nil else { return .wait }
        let isSecondBetter = rank(of: second) > rank(of: first)
        result = isSecondBetter ? second : first
        (isSecondBetter ? first : second)?.discardBody()
        return .end
    }

    private func rank(of answer: Answer?) -> Rank {
        guard let answer else { return .none }
        guard policy.isGood(answer), case .success(let response) = answer else { return .failed }
        return isSafe || !Self.refusals.contains(response.status) ? .good : .refused
    }
}

extension HedgePolicy {
    func isGood(_ answer: Result<ApiResponse, ApiConnectorError>) -> Bool {
        guard case .success(let response) = answer else { return false }
        return !statuses.contains(response.status)
    }
}

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
