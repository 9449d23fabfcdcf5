// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The number of requests that may be in flight: additive increase, multiplicative decrease.
///
/// Requests have numbers in the order of their starts. A round trip ends when a request ends that was started after the
/// end of the last round trip.
struct AdaptiveCount {
    /// How a request ended, as far as it says something about the server's capacity.
    enum Outcome {
        case success
        case overload
        /// A cancel, for example.
        case unknown
    }

    private static let decrease = 0.9
    /// After this number of round trips without a decrease, the steps grow.
    private static let evenStepCount = 9
    /// A step is at most this part of the limit, so that a small limit is not above the capacity every other round trip.
    private static let largestStep = 1.0 / 32
    /// Every 100th round trip begins with two at half the limit, so that the server's queue is empty and the fastest
    /// responses are seen again.
    private static let probeInterval = 100

    private let concurrency: RequestLimit.Concurrency
    private var limit: Double
    /// Until the first decrease the limit grows with each response, and so doubles per round trip.
    private var isStarting = true
    /// Whether requests have waited for the limit in this round trip.
    private var isUsedUp = false
    /// The last request that was started before this round trip.
    private var roundStart = 0
    /// The last request that was started before the last decrease: it may have failed for the same reason.
    private var decreaseStart = 0
    private var roundsSinceDecrease = 0
    private var latencies = RoundTripLatencies()
    private var roundCount = 0
    /// The limit before a probe of the latency.
    private var probedLimit: Double?

    init(_ concurrency: RequestLimit.Concurrency) {
        self.concurrency = concurrency
        limit = Double(concurrency.initialCount)
    }

    /// How many requests may be in flight.
    var count: Int {
        let largest = concurrency.range.upperBound
        return limit < Double(largest) ? Int(limit) : largest
    }

    /// All places are taken.
    mutating func useUp() {
        isUsedUp = true
    }

    /// The head of a response has arrived, or the request has failed.
    ///
    /// - Parameters:
    ///   - number: The request's number.
    ///   - lastNumber: The number of the request that was started last.
    mutating func end(_ number: Int, _ outcome: Outcome, latency: Duration, lastNumber: Int) {
        guard concurrency.isAdaptive else { return }
        switch outcome {
        case .unknown:
            return
        case .overload:
            if number > decreaseStart { decreaseLimit(to: Self.decrease, lastNumber) }
            return
        case .success:
            break
        }
        if let tolerance = concurrency.latencyTolerance {
            let slowness = latencies.add(latency)
            // The limit may be twice too high by the end of the round trip.
            if isStarting, slowness > tolerance * 1.5, number > decreaseStart {
                return decreaseLimit(to: 0.5, lastNumber)
            }
        }
        if isStarting, isUsedUp { increaseLimit(by: 1) }
        if number > roundStart { endRound(lastNumber) }
    }

    private mutating func endRound(_ lastNumber: Int) {
        if let tolerance = concurrency.latencyTolerance {
            let slowness = latencies.endRound()
            if probe() { return startRound(lastNumber) }
            if slowness > tolerance { return decreaseLimit(to: max(tolerance / slowness, 0.5), lastNumber) }
        }
        if isUsedUp, !isStarting {
            roundsSinceDecrease += 1
            let evenStep = min(limit * Self.largestStep, 1)
            increaseLimit(by: evenStep * Double(max(roundsSinceDecrease - Self.evenStepCount + 1, 1)))
        }
        startRound(lastNumber)
    }

    /// Whether the round trip that is over, or the next one, is part of a probe.
    private mutating func probe() -> Bool {
        roundCount += 1
        switch roundCount % Self.probeInterval {
        case 0 where !isStarting:
            probedLimit = limit
            limit = max(limit / 2, Double(concurrency.range.lowerBound))
        case 1:
            break
        case 2:
            if let probedLimit {
                limit = probedLimit
                latencies.forget()
            }
            probedLimit = nil
            return false
        default:
            return false
        }
        return probedLimit != nil
    }

    private mutating func increaseLimit(by step: Double) {
        limit = min(limit + step, Double(concurrency.range.upperBound))
    }

    private mutating func decreaseLimit(to share: Double, _ lastNumber: Int) {
        limit = max(min(limit * min(share, Self.decrease), limit - 1), Double(concurrency.range.lowerBound))
        probedLimit = nil
        decreaseStart = lastNumber
        roundsSinceDecrease = 0
        isStarting = false
        latencies.skipRound()
        startRound(lastNumber)
    }

    private mutating func startRound(_ lastNumber: Int) {
        roundStart = lastNumber
        isUsedUp = false
    }
}

/// How slow responses are, compared with the fastest ones since the last probe.
private struct RoundTripLatencies {
    private var shortestOfRound: Duration?
    private var shortestOfLastRound: Duration?
    private var shortest: Duration?

    /// How many times slower than the fastest response this one is.
    mutating func add(_ latency: Duration) -> Double {
        shortestOfRound = min(shortestOfRound ?? latency, latency)
        return slowness(of: latency)
    }

    /// How many times slower than the fastest response the fastest one of the round trip is.
    mutating func endRound() -> Double {
        guard let fastest = shortestOfRound else { return 1 }
        shortestOfRound = nil
        shortestOfLastRound = fastest
        shortest = min(shortest ?? fastest, fastest)
        return slowness(of: fastest)
    }

    mutating func skipRound() {
        shortestOfRound = nil
    }

    /// Forgets all round trips but the last one.
    mutating func forget() {
        shortest = shortestOfLastRound
    }

    private func slowness(of latency: Duration) -> Double {
        guard let shortest, shortest > .zero else { return 1 }
        return latency / shortest
    }
}
