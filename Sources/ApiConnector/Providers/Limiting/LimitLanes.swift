// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The lanes of all hosts and classes of routes that are asked now, or were a moment ago.
final class LimitLanes: Sendable {
    struct Key: Hashable {
        let origin: Origin
        let routeClass: String
        /// Times of different scales cannot be compared.
        let scale: ObjectIdentifier
    }

    private struct Lane {
        var lane: LimitLane
        /// Where it is woken; held, so that it is woken whoever goes, and that no other gets the name of its scale.
        let timers: TimerQueue
        var wakeTime: Duration?
        var wake: TimerQueue.Entry?
    }

    /// Past so many, those that nobody is in are forgotten.
    static let maximumCount = 256

    private let limit: RequestLimit
    private let lanes = Locked<[Key: Lane]>([:])

    init(_ limit: RequestLimit) {
        self.limit = limit
    }

    /// How many lanes are kept.
    var count: Int { lanes.withLock { $0.count } }

    /// How many requests wait.
    var waiterCount: Int { lanes.withLock { $0.values.reduce(0) { $0 + $1.lane.waiterCount } } }

    /// How many requests have a place.
    var inFlightCount: Int { lanes.withLock { $0.values.reduce(0) { $0 + $1.lane.inFlightCount } } }

    /// Waits for a request's turn.
    ///
    /// - Throws: ``ApiConnectorError`` of kind `.deadlineExceeded` as soon as it is known that it would come too late,
    ///   and what ended the wait.
    func enter(_ key: Key, _ request: ApiRequest) async throws(ApiConnectorError) -> LimitSlot {
        if Task.isCancelled { throw .cancelled(request) }
        let waiter = LimitWaiter(request)
        let start = request.timeSource.now
        var obstacle: LimitLane.Obstacle?
        var number: Int?
        update(key, request.timerQueue) { lane, turn in
            lane.enter(waiter)
            turn = lane.turn(now: start)
            number = turn.started.first { $0.waiter === waiter }?.number
            if number == nil { obstacle = lane.obstacle(now: start) ?? .rate }
        }
        if let number { return LimitSlot(self, key, number, request.timerQueue) }
        let outcome = await request.withDeadline {
            await waiter.outcome()
        } onStop: { [self, timers = request.timerQueue] error in
            // Who has been started goes on, and finds out by itself: so no slot is lost.
            var hasLeft = false
            update(key, timers) { hasLeft = $0.leave(waiter) }
            if hasLeft { waiter.resume(with: .failure(error)) }
        }
        if let obstacle {
            request.report(.limited(for: request.timeSource.now - start, because: obstacle.rawValue))
        }
        switch outcome {
        case .success(let number): return LimitSlot(self, key, number, request.timerQueue)
        case .failure(let error): throw error.completed(request: request)
        }
    }

    /// Changes a lane, and starts whoever may start then.
    func update(_ key: Key, _ timers: TimerQueue, _ change: (inout LimitLane) -> Void) {
        let now = timers.timeSource.now
        update(key, timers) { lane, turn in
            change(&lane)
            turn = lane.turn(now: now)
        }
    }

    private func update(
        _ key: Key,
        _ timers: TimerQueue,
        _ change: (inout LimitLane, inout LimitLane.Turn) -> Void
    ) {
        let now = timers.timeSource.now
        var stale: TimerQueue.Entry?
        var newWakeTime: Duration?
        let (turn, timers) = lanes.withLock { lanes in
            if lanes[key] == nil, lanes.count >= Self.maximumCount { lanes = lanes.filter { !$0.value.lane.isEmpty } }
            var lane = lanes.removeValue(forKey: key) ?? Lane(lane: LimitLane(limit), timers: timers)
            var turn = LimitLane.Turn()
            change(&lane.lane, &turn)
            if lane.wakeTime != turn.wakeTime {
                lane.wakeTime = turn.wakeTime
                stale = lane.wake.take()
                newWakeTime = turn.wakeTime
            }
            if !lane.lane.isForgettable(now: now) { lanes[key] = lane }
            return (turn, lane.timers)
        }
        if let stale { timers.remove(stale) }
        for (waiter, number) in turn.started { waiter.resume(with: .success(number)) }
        for (waiter, wait) in turn.hopeless { waiter.resume(with: .failure(.cannotBeInTime(wait))) }
        if let newWakeTime { wake(key, at: newWakeTime, timers) }
    }

    private func wake(_ key: Key, at time: Duration, _ timers: TimerQueue) {
        let entry = timers.add(at: time) { [weak self, weak timers] in
            guard let self, let timers else { return }
            lanes.withLock { lanes in
                guard lanes[key]?.wakeTime == time else { return }
                lanes[key]?.wakeTime = nil
                lanes[key]?.wake = nil
            }
            update(key, timers) { _ in }
        }
        let isNeeded = lanes.withLock { lanes in
            guard lanes[key]?.wakeTime == time, lanes[key]?.wake == nil else { return false }
            lanes[key]?.wake = entry
            return true
        }
        if !isNeeded { timers.remove(entry) }
    }
}

extension ApiConnectorError {
    fileprivate static func cannotBeInTime(_ wait: Duration) -> ApiConnectorError {
        return ApiConnectorError(
            .deadlineExceeded,
            "the limit of requests lets it start in \(wait.inMilliseconds()) at the earliest, and its deadline comes before"
        )
    }
}
