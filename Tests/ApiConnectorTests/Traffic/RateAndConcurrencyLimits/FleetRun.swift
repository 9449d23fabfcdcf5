// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// Several instances with one shared limit, in virtual time.
struct FleetRun {
    private enum Event {
        /// New requests of an instance.
        case arrival(Int, count: Int)
        /// Only the last wake of an instance counts.
        case wake(Int, number: Int)
        /// The shared state has answered.
        case grant(Int, SharedTokens?)
        /// The shared state has granted places.
        case places(Int, SharedPlaces?)
        /// The shared state has taken the pause of an instance, or is unavailable.
        case hold(Int, isShared: Bool)
        /// A request of an instance has ended.
        case end(Int)
    }

    private let clock = ManualClock()
    private let state: MemorySharedState
    private let limit: RequestLimit
    /// The duration of each request.
    private let latency: Duration
    private let policy: SharedLimitPolicy
    private let key = SharedStateKey("a", in: "tests")
    private let timers: TimerQueue
    private var queues: [LimitQueue]
    /// The events to come, the next one last.
    private var events: [(time: Duration, event: Event)] = []
    /// The number of the last wake of each instance.
    private var lastWakes: [Int]
    private(set) var roundTripCount = 0
    /// When the shared state is unavailable.
    var outage: Range<Duration>?
    /// When each request started, and on which instance.
    private(set) var starts: [(time: Duration, instance: Int)] = []
    /// The largest number of requests in flight at the same time.
    private(set) var mostInFlight = 0
    private var killed: Set<Int> = []

    init(_ rate: RequestRate, _ policy: SharedLimitPolicy, instanceCount: Int) {
        self.init(RequestLimit(rate: rate), policy, instanceCount: instanceCount, latency: .zero)
    }

    init(_ limit: RequestLimit, _ policy: SharedLimitPolicy, instanceCount: Int, latency: Duration) {
        state = MemorySharedState(timeSource: clock)
        self.limit = limit
        self.latency = latency
        self.policy = policy
        timers = TimerQueue.on(clock)
        queues = (0..<instanceCount).map { _ in LimitQueue(limit, policy) }
        lastWakes = Array(repeating: 0, count: instanceCount)
    }

    /// How many requests are in flight.
    var inFlightCount: Int { queues.reduce(0) { $0 + $1.inFlightCount } }

    /// How many requests of an instance are in flight.
    func inFlightCount(of instance: Int) -> Int { queues[instance].inFlightCount }

    /// Kills an instance: it starts no more requests, and its requests in flight end.
    mutating func kill(_ instance: Int) {
        killed.insert(instance)
        queues[instance] = LimitQueue(limit, policy)
    }

    /// Answers an instance with `Retry-After`.
    mutating func pause(_ instance: Int, for duration: Duration) {
        queues[instance].answer(
            0,
            .overload,
            ServerLimits(["Retry-After": "\(duration.components.seconds)"], status: 429, date: clock.date),
            now: clock.now
        )
        add(.arrival(instance, count: 0), at: clock.now)
    }

    /// How many requests wait.
    var waiterCount: Int { queues.reduce(0) { $0 + $1.waiterCount } }

    /// Holds the bucket.
    func hold(_ duration: Duration) {
        state.holdTokens(of: key, for: duration, within: .zero)
    }

    /// Requests of an instance come at a time.
    mutating func arrive(_ count: Int, at time: Duration, _ instance: Int) {
        add(.arrival(instance, count: count), at: time)
    }

    /// Adds an event after all events of the same time.
    private mutating func add(_ event: Event, at time: Duration) {
        var range = events.startIndex..<events.endIndex
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            range = events[middle].time > time ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        events.insert((time, event), at: range.lowerBound)
    }

    /// Goes on until a time, or until nothing happens any more.
    mutating func run(until end: Duration) {
        while let (time, event) = events.last, time <= end {
            events.removeLast()
            if case .wake(let instance, let number) = event, number != lastWakes[instance] { continue }
            clock.advance(by: time - clock.now)
            take(event)
        }
        clock.advance(by: end - clock.now)
    }

    private mutating func take(_ event: Event) {
        let now = clock.now
        let instance: Int
        switch event {
        case .arrival(let number, let count):
            instance = number
            for _ in 0..<count { queues[number].enter(LimitWaiter(.made(on: timers))) }
        case .wake(let number, _): instance = number
        case .grant(let number, let tokens):
            instance = number
            queues[number].grant(tokens, now: now)
        case .places(let number, let places):
            instance = number
            queues[number].grant(places, now: now)
        case .hold(let number, let isShared):
            instance = number
            queues[number].endHold(isShared: isShared, now: now)
        case .end(let number):
            instance = number
            if !killed.contains(number) { queues[number].finish() }
        }
        if killed.contains(instance) { return }
        let turn = queues[instance].turn(now: now)
        for _ in turn.started {
            starts.append((now, instance))
            if latency > .zero { add(.end(instance), at: now + latency) } else { queues[instance].finish() }
        }
        mostInFlight = max(mostInFlight, inFlightCount)
        let isAway = outage?.contains(now) == true
        if let hold = turn.hold {
            if !isAway { state.holdTokens(of: key, for: hold, within: .zero) }
            add(.hold(instance, isShared: !isAway), at: now + .milliseconds(2))
        }
        if let request = turn.places, let concurrent = limit.concurrent {
            roundTripCount += 1
            let places =
                isAway
                ? nil
                : state.takePlaces(
                    request.wantedCount,
                    of: concurrent.range.upperBound,
                    for: key,
                    owner: "\(instance)",
                    using: request.usedCount,
                    lasting: LeasedPlaces.leaseDuration(policy),
                    within: .zero
                )
            add(.places(instance, places), at: now + .milliseconds(2))
        }
        if let count = turn.tokenCount {
            roundTripCount += 1
            let rate = limit.rate ?? RequestRate(1, per: .seconds(1))
            let tokens =
                isAway
                ? nil : state.takeTokens(count, of: key, at: rate, ahead: policy.horizon, within: .zero)
            add(.grant(instance, tokens), at: now + .milliseconds(2))
        }
        if let time = turn.wakeTime {
            lastWakes[instance] += 1
            add(.wake(instance, number: lastWakes[instance]), at: time)
        }
    }
}
