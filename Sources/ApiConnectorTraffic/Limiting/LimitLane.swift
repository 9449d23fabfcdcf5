// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The queue of requests that share a limit: a state machine that gets the time as an argument.
///
/// After each change, ``turn(now:)`` returns what to do next.
struct LimitLane {
    /// The reason why the next request may not start.
    enum Obstacle: String {
        case concurrency, rate, server
    }

    /// The work to do outside the lock after a change.
    struct Turn {
        /// The requests to start.
        ///
        /// Each has a number, which is higher than those of all earlier requests.
        var started: [(waiter: LimitWaiter, number: Int)] = []
        /// The requests that cannot start before their deadline, with the wait that they would need.
        var hopeless: [(waiter: LimitWaiter, wait: Duration)] = []
        /// The number of tokens to take from the shared bucket.
        var tokenCount: Int?
        /// The request for places of the shared concurrency limit; nil for none.
        var places: LeasedPlaces.Request?
        /// How long no instance may send a request.
        var hold: Duration?
        /// When to check again; nil if only the end of a request or a new request can change anything.
        var wakeTime: Duration?
        /// Whether requests wait for that time.
        var isWaiting = false
    }

    private let limit: RequestLimit
    private var schedule: RateSchedule?
    /// The tokens of a shared rate, which replace the schedule.
    private var tank: TokenTank?
    /// This instance's places of a shared concurrency limit.
    private var places: LeasedPlaces?
    /// The pauses of the other instances, for a shared limit without tokens and places.
    private var holdWatch: SharedHoldWatch?
    private let isShared: Bool
    /// The end of the pause that the other instances know.
    private var sharedHoldEnd: Duration = .zero
    private var holdBackoff = SharedStateBackoff()
    private var concurrency: AdaptiveCount?
    /// The waiting requests, in the order in which they will start.
    private var waiters: [LimitWaiter] = []
    private(set) var inFlightCount = 0
    /// The numbers and start times of the requests in flight whose head has not arrived.
    private var unanswered: [Int: Duration] = [:]
    private var nextNumber = 0
    /// The index of the first waiter whose start may have been delayed since its deadline was checked.
    private var uncheckedIndex = Int.max
    /// The end of the server's pause: no request starts before this time.
    private var pauseEnd: Duration = .zero
    private var quota: (count: Int, end: Duration)?
    /// When the last request succeeded; nil before that.
    private var lastSuccess: Duration?

    init(_ limit: RequestLimit, _ policy: SharedLimitPolicy? = nil) {
        self.limit = limit
        isShared = policy != nil
        if let policy {
            tank = limit.rate.map { TokenTank($0, policy) }
            // An adaptive limit follows the server's capacity, so it already takes the other instances into account.
            if let concurrent = limit.concurrent, !concurrent.isAdaptive {
                places = LeasedPlaces(concurrent.range.upperBound, policy)
            }
            if tank == nil, places == nil, limit.heedsServer { holdWatch = SharedHoldWatch(policy) }
        } else {
            schedule = limit.rate.map { RateSchedule($0) }
        }
        concurrency = limit.concurrent.map { AdaptiveCount($0) }
    }

    /// The number of waiting requests.
    var waiterCount: Int { waiters.count }

    /// Whether no request waits or is in flight.
    var isEmpty: Bool { inFlightCount == 0 && waiters.isEmpty }

    /// Whether the lane can be forgotten, because a new lane would behave the same.
    func isForgettable(now: Duration) -> Bool {
        // A lane that has learned the server's capacity is kept.
        isEmpty && limit.concurrent?.isAdaptive != true && pauseEnd <= now && quota.map { $0.end <= now } != false
            && schedule?.isFull(now: now) != false && tank?.isEmpty != false
            && places?.isEmpty != false && holdWatch?.isForgettable(now: now) != false
    }

    /// Whether the shared state is unavailable.
    var isAlone: Bool { tank?.isAlone == true || places?.isAlone == true || holdWatch?.isAlone == true }

    /// Adds the tokens that the shared state has granted; `tokens` is nil if the shared state is unavailable.
    mutating func grant(_ tokens: SharedTokens?, now: Duration) {
        if let tokens { tank?.grant(tokens, now: now) } else { tank?.fail(now: now) }
        holdWatch?.end(isAway: tokens == nil, now: now)
        if let tokens, tokens.isOnHold { hold(for: tokens.wait, now: now) }
        uncheckedIndex = 0
    }

    /// Replaces this instance's places with those that the shared state has granted; `new` is nil if it is
    /// unavailable.
    mutating func grant(_ new: SharedPlaces?, now: Duration) {
        places?.grant(new, now: now)
        if let new { hold(for: new.hold, now: now) }
        uncheckedIndex = 0
    }

    /// Applies a pause that the server has requested from another instance.
    private mutating func hold(for duration: Duration, now: Duration) {
        guard limit.heedsServer, duration > .zero else { return }
        pauseEnd = max(pauseEnd, now + capped(duration))
        sharedHoldEnd = max(sharedHoldEnd, pauseEnd)
    }

    /// Records whether the other instances know the pause now.
    ///
    /// - Parameter isShared: False if the shared state is unavailable. The lane then reports the pause again later.
    mutating func endHold(isShared: Bool, now: Duration) {
        if isShared { return holdBackoff.succeed() }
        holdBackoff.fail(now: now)
        sharedHoldEnd = .zero
    }

    /// Queues a request after all requests of the same or a higher priority.
    mutating func enter(_ waiter: LimitWaiter) {
        let place = waiters.lastIndex { $0.priority >= waiter.priority }.map { $0 + 1 } ?? 0
        waiters.insert(waiter, at: place)
        uncheckedIndex = min(uncheckedIndex, place)
    }

    /// Removes a request from the queue; false if it is no longer in the queue.
    mutating func leave(_ waiter: LimitWaiter) -> Bool {
        guard let place = waiters.firstIndex(where: { $0 === waiter }) else { return false }
        waiters.remove(at: place)
        return true
    }

    /// Records that the head of a response has arrived, or that the request has failed before that.
    mutating func answer(_ number: Int, _ outcome: AdaptiveCount.Outcome, _ limits: ServerLimits?, now: Duration) {
        let start = unanswered.removeValue(forKey: number)
        if let start { concurrency?.end(number, outcome, latency: now - start, lastNumber: nextNumber) }
        if outcome == .success { lastSuccess = now }
        guard let limits else { return }
        let before = (pauseEnd, quota?.count, quota?.end)
        defer { if before != (pauseEnd, quota?.count, quota?.end) { uncheckedIndex = 0 } }
        // If another request succeeded meanwhile, only a part of the origin's servers is overloaded.
        let isMixed = limits.isPartial && lastSuccess.map { $0 > start ?? now } == true
        if let pause = limits.pause, !isMixed { pauseEnd = max(pauseEnd, now + capped(pause)) }
        guard let left = limits.quota else { return }
        // The server's count already includes the requests that were sent before this one.
        let count = max(left.count - unanswered.keys.count { $0 > number }, 0)
        let end = now + capped(left.reset)
        // Responses may arrive out of order, so within one window the smallest count is right. The server rounds the
        // end of a window to whole seconds.
        if let known = quota, known.end > now, end <= known.end + .seconds(1) {
            quota?.count = min(known.count, count)
        } else {
            quota = (count, end)
        }
    }

    /// Records the end of a request.
    mutating func finish() {
        inFlightCount -= 1
    }

    /// Starts the requests that may start now, and removes those that cannot start before their deadline.
    mutating func turn(now: Duration) -> Turn {
        var turn = Turn()
        while let first = waiters.first, obstacle(now: now) == nil {
            waiters.removeFirst()
            turn.started.append((first, start(now: now)))
        }
        if !waiters.isEmpty, !hasRoom(now: now) { concurrency?.useUp() }
        turn.tokenCount = tank?.ask(for: waiters.count, startedCount: turn.started.count, now: now)
        if holdWatch?.ask(isSending: waiters.count + turn.started.count > 0, now: now) == true { turn.tokenCount = 0 }
        let neededPlaceCount = neededPlaceCount(now: now)
        turn.places = places?.ask(for: neededPlaceCount, using: inFlightCount, now: now)
        turn.hold = newHold(now: now)
        let checkedCount = max(uncheckedIndex - turn.started.count, 0)
        uncheckedIndex = .max
        if checkedCount < waiters.count {
            let unchecked = Array(waiters[checkedCount...])
            waiters.removeSubrange(checkedCount...)
            for waiter in unchecked {
                if let deadline = waiter.deadline {
                    let time = earliestStart(behind: waiters.count, now: now)
                    guard time < deadline else {
                        turn.hopeless.append((waiter, time - now))
                        continue
                    }
                }
                waiters.append(waiter)
            }
        }
        turn.wakeTime = wakeTime(now: now)
        turn.isWaiting = !waiters.isEmpty
        return turn
    }

    private func wakeTime(now: Duration) -> Duration? {
        let placesTime = places?.wakeTime(for: neededPlaceCount(now: now), now: now)
        return [placesTime, nextStartTime(now: now), nextHoldTime(now: now)].compactMap { $0 }.min()
    }

    /// When to check the first waiting request again; nil if only the end of a request or a reply of the shared state
    /// can let it start.
    private func nextStartTime(now: Duration) -> Duration? {
        guard !waiters.isEmpty else { return nil }
        // Without a place, the lane asks for one as soon as the rate and the server allow the next request.
        guard hasRoom(now: now) || (places != nil && obstacle(now: now) != .concurrency) else { return nil }
        let time = earliestStart(behind: 0, now: now)
        guard let tank else { return time }
        return tank.wakeTime(now: now).map { max($0, time) }
    }

    /// The number of places for the requests in flight, and for those that wait for a place.
    private func neededPlaceCount(now: Duration) -> Int {
        switch obstacle(now: now) {
        case .server: inFlightCount
        // The next request will need a place when it has a token.
        case .rate: inFlightCount + min(waiters.count, 1)
        case .concurrency, nil: inFlightCount + waiters.count
        }
    }

    /// The server's pause, if the other instances do not know it yet.
    private mutating func newHold(now: Duration) -> Duration? {
        guard let end = unknownHoldEnd(now: now), holdBackoff.isOver(now: now) else { return nil }
        sharedHoldEnd = end
        return end - now
    }

    /// When to report the server's pause again; nil if the other instances know it.
    private func nextHoldTime(now: Duration) -> Duration? {
        guard let end = unknownHoldEnd(now: now), holdBackoff.end < end else { return nil }
        return holdBackoff.end
    }

    /// The end of the server's pause, if the other instances do not know it yet.
    private func unknownHoldEnd(now: Duration) -> Duration? {
        let end = max(pauseEnd, quotaEnd(behind: 0, now: now))
        return isShared && end > now && end > sharedHoldEnd + .seconds(1) ? end : nil
    }

    /// The obstacle for the next request; nil if it may start.
    func obstacle(now: Duration) -> Obstacle? {
        if pauseEnd > now || quotaEnd(behind: 0, now: now) > now { return .server }
        if let schedule, schedule.start(behind: 0, now: now) > now { return .rate }
        if let tank, tank.start(behind: 0, now: now).map({ $0 > now }) != false { return .rate }
        return hasRoom(now: now) ? nil : .concurrency
    }

    private func hasRoom(now: Duration) -> Bool {
        inFlightCount < min(concurrency?.count ?? .max, places?.count(now: now) ?? .max)
    }

    private mutating func start(now: Duration) -> Int {
        nextNumber += 1
        inFlightCount += 1
        unanswered[nextNumber] = now
        schedule?.take(now: now)
        tank?.take(now: now)
        if let known = quota { quota = known.end > now ? (known.count - 1, known.end) : nil }
        return nextNumber
    }

    /// The earliest time at which a request with `count` others ahead of it can start, even if all requests in flight
    /// end now.
    private func earliestStart(behind count: Int, now: Duration) -> Duration {
        let time = max(now, pauseEnd, quotaEnd(behind: count, now: now))
        return max(time, schedule?.start(behind: count, now: now) ?? tank?.start(behind: count, now: now) ?? now)
    }

    private func quotaEnd(behind count: Int, now: Duration) -> Duration {
        guard let quota, quota.end > now, quota.count <= count else { return now }
        return quota.end
    }

    private func capped(_ wait: Duration) -> Duration { min(wait, limit.maximumServerHold.bounded) }
}
