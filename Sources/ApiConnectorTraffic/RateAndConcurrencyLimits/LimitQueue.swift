// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The queue of requests that share a limit: a state machine that gets the time as an argument.
///
/// After each change, ``turn(now:)`` returns what to do next.
struct LimitQueue {
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
    private var pace: RequestPace
    private var capacity: RequestCapacity
    private var serverHold: ServerHold
    private var exchange: HoldExchange
    /// The waiting requests, in the order in which they will start.
    private var waiters: [LimitWaiter] = []
    private(set) var inFlightCount = 0
    /// The numbers and start times of the requests in flight whose head has not arrived.
    private var unanswered: [Int: Duration] = [:]
    private var nextNumber = 0
    /// The index of the first waiter whose start may have been delayed since its deadline was checked.
    private var uncheckedIndex = Int.max

    init(_ limit: RequestLimit, _ policy: SharedLimitPolicy? = nil) {
        self.limit = limit
        pace = RequestPace(limit.rate, policy)
        capacity = RequestCapacity(limit.concurrent, policy)
        serverHold = ServerHold(atMost: limit.maximumServerHold.bounded)
        exchange =
            switch policy {
            case nil: HoldExchange(.none)
            case let policy? where limit.heedsServer && !pace.isShared && !capacity.isShared:
                HoldExchange(.byAsking(each: policy.refreshInterval))
            case _?: HoldExchange(.withReplies)
            }
    }

    /// The number of waiting requests.
    var waiterCount: Int { waiters.count }

    /// Whether no request waits or is in flight.
    var isEmpty: Bool { inFlightCount == 0 && waiters.isEmpty }

    /// Whether the queue can be forgotten, because a new queue would behave the same.
    func isForgettable(now: Duration) -> Bool {
        isEmpty && serverHold.isOver(now: now) && pace.isForgettable(now: now) && capacity.isForgettable
            && exchange.isForgettable(now: now)
    }

    /// Whether the shared state is unavailable.
    var isAlone: Bool { pace.isAlone || capacity.isAlone || exchange.isAlone }

    /// Adds the tokens that the shared state has granted; `tokens` is nil if the shared state is unavailable.
    mutating func grant(_ tokens: SharedTokens?, now: Duration) {
        pace.grant(tokens, now: now)
        exchange.endAsking(isAway: tokens == nil, now: now)
        if let tokens, tokens.isOnHold { hold(for: tokens.wait, now: now) }
        uncheckedIndex = 0
    }

    /// Replaces this instance's places with those that the shared state has granted; `places` is nil if it is
    /// unavailable.
    mutating func grant(_ places: SharedPlaces?, now: Duration) {
        capacity.grant(places, now: now)
        if let places { hold(for: places.hold, now: now) }
        uncheckedIndex = 0
    }

    /// Applies a pause that the server has requested from another instance.
    private mutating func hold(for duration: Duration, now: Duration) {
        guard limit.heedsServer, duration > .zero else { return }
        exchange.learn(serverHold.pause(for: duration, now: now))
    }

    /// Records whether the other instances know the pause now.
    ///
    /// - Parameter isShared: False if the shared state is unavailable. The queue then reports the pause again later.
    mutating func endHold(isShared: Bool, now: Duration) {
        exchange.endReport(isShared: isShared, now: now)
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
        if let start { capacity.end(number, outcome, latency: now - start, lastNumber: nextNumber) }
        if outcome == .success { serverHold.noteSuccess(now: now) }
        guard let limits else { return }
        let laterCount = limits.quota == nil ? 0 : unanswered.keys.count { $0 > number }
        let isChanged = serverHold.apply(limits, startTime: start ?? now, laterCount: laterCount, now: now)
        if isChanged { uncheckedIndex = 0 }
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
        if !waiters.isEmpty, !hasRoom(now: now) { capacity.useUp() }
        turn.tokenCount = pace.ask(for: waiters.count, startedCount: turn.started.count, now: now)
        if exchange.ask(isSending: waiters.count + turn.started.count > 0, now: now) { turn.tokenCount = 0 }
        turn.places = capacity.ask(for: neededPlaceCount(now: now), using: inFlightCount, now: now)
        turn.hold = exchange.report(serverHold.end(behind: 0, now: now), now: now)
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
        let times = [
            capacity.wakeTime(for: neededPlaceCount(now: now), now: now), nextStartTime(now: now),
            exchange.nextReportTime(of: serverHold.end(behind: 0, now: now), now: now),
        ]
        return times.compactMap { $0 }.min()
    }

    /// When to check the first waiting request again; nil if only the end of a request or a reply of the shared state
    /// can let it start.
    private func nextStartTime(now: Duration) -> Duration? {
        guard !waiters.isEmpty else { return nil }
        // Without a place, the queue asks for one as soon as the rate and the server allow the next request.
        guard hasRoom(now: now) || (capacity.isShared && obstacle(now: now) != .concurrency) else { return nil }
        return pace.wakeTime(now: now).map { max($0, earliestStart(behind: 0, now: now)) }
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

    /// The obstacle for the next request; nil if it may start.
    func obstacle(now: Duration) -> Obstacle? {
        if serverHold.end(behind: 0, now: now) > now { return .server }
        if pace.start(behind: 0, now: now).map({ $0 > now }) != false { return .rate }
        return hasRoom(now: now) ? nil : .concurrency
    }

    private func hasRoom(now: Duration) -> Bool { inFlightCount < capacity.count(now: now) }

    private mutating func start(now: Duration) -> Int {
        nextNumber += 1
        inFlightCount += 1
        unanswered[nextNumber] = now
        pace.take(now: now)
        serverHold.take(now: now)
        return nextNumber
    }

    /// The earliest time at which a request with `count` others ahead of it can start, even if all requests in flight
    /// end now.
    private func earliestStart(behind count: Int, now: Duration) -> Duration {
        max(now, serverHold.end(behind: count, now: now), pace.start(behind: count, now: now) ?? now)
    }
}

/// A request that waits for its turn.
final class LimitWaiter: Sendable {
    let priority: CallPriority
    let deadline: Duration?
    private let turn = PendingResult<Int>()

    init(_ request: ApiRequest) {
        priority = request.priority
        deadline = request.deadline
    }

    /// Waits for the turn; returns the number of the started request.
    func outcome() async -> Result<Int, ApiConnectorError> { await turn.result() }

    func resume(with outcome: Result<Int, ApiConnectorError>) { turn.resume(with: outcome) }
}
