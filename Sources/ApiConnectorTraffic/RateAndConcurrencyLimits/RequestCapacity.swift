// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// How many requests may be in flight, by a limit.
enum RequestCapacity {
    case unlimited
    /// A number of this instance. An adaptive number follows the server's capacity, so it already takes the other
    /// instances into account.
    case own(AdaptiveCount)
    /// This instance's places of a number that several instances share.
    case shared(LeasedPlaces)

    init(_ concurrency: RequestLimit.Concurrency?, _ policy: SharedLimitPolicy?) {
        switch (concurrency, policy) {
        case (nil, _): self = .unlimited
        case (let concurrency?, let policy?) where !concurrency.isAdaptive:
            self = .shared(LeasedPlaces(concurrency.range.upperBound, policy))
        case (let concurrency?, _): self = .own(AdaptiveCount(concurrency))
        }
    }

    var isShared: Bool {
        if case .shared = self { true } else { false }
    }

    /// Whether the shared state is unavailable.
    var isAlone: Bool {
        if case .shared(let places) = self { places.isAlone } else { false }
    }

    /// Whether a new capacity would behave the same; one that has learned the server's capacity is kept.
    var isForgettable: Bool {
        switch self {
        case .unlimited: true
        case .own(let count): !count.isAdaptive
        case .shared(let places): places.isEmpty
        }
    }

    func count(now: Duration) -> Int {
        switch self {
        case .unlimited: .max
        case .own(let count): count.count
        case .shared(let places): places.count(now: now)
        }
    }

    /// Records that a request waits because of the limit.
    mutating func useUp() {
        guard case .own(var count) = self else { return }
        count.useUp()
        self = .own(count)
    }

    /// Records that the head of a response has arrived, or that the request has failed.
    mutating func end(_ number: Int, _ outcome: AdaptiveCount.Outcome, latency: Duration, lastNumber: Int) {
        guard case .own(var count) = self else { return }
        count.end(number, outcome, latency: latency, lastNumber: lastNumber)
        self = .own(count)
    }

    /// The request for places to send to the shared state now; nil for none.
    mutating func ask(for neededCount: Int, using usedCount: Int, now: Duration) -> LeasedPlaces.Request? {
        guard case .shared(var places) = self else { return nil }
        defer { self = .shared(places) }
        return places.ask(for: neededCount, using: usedCount, now: now)
    }

    /// Replaces this instance's places with those that the shared state has granted; nil if it is unavailable.
    mutating func grant(_ new: SharedPlaces?, now: Duration) {
        guard case .shared(var places) = self else { return }
        places.grant(new, now: now)
        self = .shared(places)
    }

    /// When to ask the shared state again; nil if only another request or a reply can change anything.
    func wakeTime(for neededCount: Int, now: Duration) -> Duration? {
        if case .shared(let places) = self { places.wakeTime(for: neededCount, now: now) } else { nil }
    }
}

/// The number of requests that may be in flight: additive increase, multiplicative decrease.
///
/// Requests are numbered in the order in which they start. A round trip ends at the first response to a request that
/// was started after the previous round trip had ended.
struct AdaptiveCount {
    /// The result of a request, as evidence of the server's capacity.
    enum Outcome {
        case success
        case overload
        /// The request ended in a way that says nothing about the capacity, for example because it was canceled.
        case unknown
    }

    private static let decrease = 0.9
    /// After this number of round trips without a decrease, the steps grow.
    private static let evenStepCount = 9
    /// The largest step before the steps grow, as a share of the limit.
    ///
    /// With larger steps, a small limit would exceed the server's capacity in every other round trip.
    private static let largestStep = 1.0 / 32
    /// After this number of round trips, two round trips have half the limit.
    ///
    /// The server's queue becomes empty, and the latency without a queue is measured again.
    private static let probeInterval = 100

    private let concurrency: RequestLimit.Concurrency
    private var limit: Double
    /// True until the first decrease: the limit grows by 1 with each response, and so doubles per round trip.
    private var isStarting = true
    /// Whether requests have waited for the limit in this round trip.
    private var isUsedUp = false
    /// The number of the last request that was started before this round trip.
    private var roundStart = 0
    /// The number of the last request that was started before the last decrease.
    ///
    /// A failure of this request or an earlier one may have the same reason as the decrease.
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

    var isAdaptive: Bool { concurrency.isAdaptive }

    /// How many requests may be in flight.
    var count: Int {
        let largest = concurrency.range.upperBound
        return limit < Double(largest) ? Int(limit) : largest
    }

    /// Records that a request waits because of the limit.
    mutating func useUp() {
        isUsedUp = true
    }

    /// Records that the head of a response has arrived, or that the request has failed.
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
            // Waiting for the end of the round trip could make the limit twice as high as it should be.
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

    /// Starts or ends a probe of the latency if one is due.
    ///
    /// True if the round trip that is over, or the next one, is part of a probe.
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

    /// Adds a response's latency; returns how many times slower the response is than the fastest one.
    mutating func add(_ latency: Duration) -> Double {
        shortestOfRound = min(shortestOfRound ?? latency, latency)
        return slowness(of: latency)
    }

    /// Ends a round trip; returns how many times slower its fastest response was than the fastest response of all.
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

    /// Forgets all round trips except the last one.
    mutating func forget() {
        shortest = shortestOfLastRound
    }

    private func slowness(of latency: Duration) -> Double {
        guard let shortest, shortest > .zero else { return 1 }
        return latency / shortest
    }
}
