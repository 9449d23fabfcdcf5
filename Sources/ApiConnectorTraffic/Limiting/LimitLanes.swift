// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The lanes of all hosts and route classes in use.
final class LimitLanes: Sendable {
    struct Key: Hashable {
        let origin: HTTPOrigin
        let routeClass: String
        /// The scale of the times in a lane, because times of different scales cannot be compared.
        let scale: ObjectIdentifier
    }

    private struct Lane {
        var lane: LimitLane
        /// The time source of the wake-up.
        ///
        /// The lane keeps the time source alive. So the wake-up does not depend on the request that scheduled it, and
        /// the identifier of the time source's scale is not used again for another scale.
        let timeSource: any TimeSource
        var wakeTime: Duration?
        var isWaiting = false
        /// Cancels the scheduled wake-up.
        var cancelWake: (@Sendable () -> Void)?
    }

    /// Above this number, empty lanes are forgotten.
    static let maximumCount = 256

    private let limit: RequestLimit
    private let shared: SharedLimit?
    /// The name of this instance as an owner of places.
    private let owner = UUID().uuidString
    private let lanes = Protected<[Key: Lane]>([:])

    init(_ limit: RequestLimit, _ shared: SharedLimit? = nil) {
        self.limit = limit
        self.shared = shared
    }

    /// The number of lanes.
    var count: Int { lanes.withLock { $0.count } }

    /// The number of waiting requests.
    var waiterCount: Int { lanes.withLock { $0.values.reduce(0) { $0 + $1.lane.waiterCount } } }

    /// The number of requests in flight.
    var inFlightCount: Int { lanes.withLock { $0.values.reduce(0) { $0 + $1.lane.inFlightCount } } }

    /// Waits for a request's turn.
    ///
    /// - Throws: ``/ApiConnector/ApiConnectorError`` of kind `.deadlineExceeded` as soon as the turn would come too
    ///   late; otherwise the error that ended the wait.
    func enter(_ key: Key, _ request: ApiRequest) async throws(ApiConnectorError) -> LimitSlot {
        if Task.isCancelled { throw .cancelled(request) }
        let waiter = LimitWaiter(request)
        let start = request.timeSource.now
        var obstacle: LimitLane.Obstacle?
        var number: Int?
        var isAlone = false
        update(key, request.timeSource) { lane, turn in
            lane.enter(waiter)
            turn = lane.turn(now: start)
            number = turn.started.first { $0.waiter === waiter }?.number
            isAlone = lane.isAlone
            if number == nil { obstacle = lane.obstacle(now: start) ?? .rate }
        }
        if isAlone, let shared {
            request.reportUnavailableState(of: "limit", shared.name)
        }
        if let number { return LimitSlot(self, key, number, request.timeSource) }
        let outcome = await request.withDeadline {
            await waiter.outcome()
        } onStop: { [self, timeSource = request.timeSource] error in
            // A request that is no longer in the queue has already started. It continues, so that its slot is not lost.
            // It notices the cancellation or the deadline later.
            var hasLeft = false
            update(key, timeSource) { hasLeft = $0.leave(waiter) }
            if hasLeft { waiter.resume(with: .failure(error)) }
        }
        let wait = request.timeSource.now - start
        if let obstacle { request.report(.limited(for: wait, because: obstacle.rawValue)) }
        switch outcome {
        case .success(let number): return LimitSlot(self, key, number, request.timeSource, after: wait)
        case .failure(var error):
            if error.request == nil { error = ApiConnectorError(error.kind, error.detail, request: request) }
            error.timesRecord = TransportTimesRecord().adding(wait: wait)
            throw error
        }
    }

    /// Changes a lane, and then starts the requests that may start.
    func update(_ key: Key, _ timeSource: any TimeSource, _ change: (inout LimitLane) -> Void) {
        let now = timeSource.now
        update(key, timeSource) { lane, turn in
            change(&lane)
            turn = lane.turn(now: now)
        }
    }

    private func update(
        _ key: Key,
        _ timeSource: any TimeSource,
        _ change: (inout LimitLane, inout LimitLane.Turn) -> Void
    ) {
        let now = timeSource.now
        var stale: (@Sendable () -> Void)?
        var newWakeTime: Duration?
        let (turn, timeSource) = lanes.withLock { lanes in
            if lanes[key] == nil, lanes.count >= Self.maximumCount { lanes = lanes.filter { !$0.value.lane.isEmpty } }
            var lane =
                lanes.removeValue(forKey: key) ?? Lane(lane: LimitLane(limit, shared?.policy), timeSource: timeSource)
            var turn = LimitLane.Turn()
            change(&lane.lane, &turn)
            if (lane.wakeTime, lane.isWaiting) != (turn.wakeTime, turn.isWaiting) {
                (lane.wakeTime, lane.isWaiting) = (turn.wakeTime, turn.isWaiting)
                stale = lane.cancelWake.take()
                newWakeTime = turn.wakeTime
            }
            if !lane.lane.isForgettable(now: now) { lanes[key] = lane }
            return (turn, lane.timeSource)
        }
        stale?()
        for (waiter, number) in turn.started { waiter.resume(with: .success(number)) }
        for (waiter, wait) in turn.hopeless { waiter.resume(with: .failure(.cannotBeInTime(wait))) }
        if let newWakeTime { wake(key, at: newWakeTime, isWaiting: turn.isWaiting, timeSource) }
        if let shared, turn.tokenCount != nil || turn.hold != nil { share(turn, as: shared, key, timeSource) }
        if let shared, let places = turn.places { take(places, as: shared, key, timeSource) }
    }

    /// Takes tokens from the shared state, and reports the server's pause to it.
    private func share(_ turn: LimitLane.Turn, as shared: SharedLimit, _ key: Key, _ timeSource: any TimeSource) {
        let (hold, count) = (turn.hold, turn.tokenCount)
        Task { [self] in
            let sharedKey = shared.key(of: key)
            let policy = shared.policy
            if let hold {
                let result: Void? = try? await shared.state.holdTokens(
                    of: sharedKey,
                    for: hold,
                    within: policy.operationLimit
                )
                update(key, timeSource) { lane in lane.endHold(isShared: result != nil, now: timeSource.now) }
            }
            guard let count else { return }
            let tokens = try? await shared.state.takeTokens(
                count,
                of: sharedKey,
                // Without a rate, the lane takes no tokens, and only learns of pauses.
                at: limit.rate ?? RequestRate(1, per: .seconds(1)),
                ahead: policy.horizon,
                within: policy.operationLimit
            )
            update(key, timeSource) { lane in lane.grant(tokens, now: timeSource.now) }
        }
    }

    /// Takes places from the shared state.
    private func take(
        _ places: LeasedPlaces.Request,
        as shared: SharedLimit,
        _ key: Key,
        _ timeSource: any TimeSource
    ) {
        guard let totalCount = limit.concurrent?.range.upperBound else { return }
        Task { [self] in
            let places = try? await shared.state.takePlaces(
                places.wantedCount,
                of: totalCount,
                for: shared.key(of: key),
                owner: owner,
                using: places.usedCount,
                lasting: LeasedPlaces.leaseDuration(shared.policy),
                within: shared.policy.operationLimit
            )
            update(key, timeSource) { lane in lane.grant(places, now: timeSource.now) }
        }
    }

    private func wake(_ key: Key, at time: Duration, isWaiting: Bool, _ timeSource: any TimeSource) {
        let cancel: @Sendable () -> Void
        if isWaiting {
            // A time source can tell this wait from a time limit.
            let task = Task(priority: .high) { [weak self] in
                if (try? await timeSource.sleep(until: time)) != nil { self?.lookAgain(key, at: time) }
            }
            cancel = { task.cancel() }
        } else {
            cancel = timeSource.schedule(at: time) { [weak self] in self?.lookAgain(key, at: time) }
        }
        let isNeeded = lanes.withLock { lanes in
            guard let lane = lanes[key], (lane.wakeTime, lane.isWaiting) == (time, isWaiting), lane.cancelWake == nil
            else { return false }
            lanes[key]?.cancelWake = cancel
            return true
        }
        if !isNeeded { cancel() }
    }

    private func lookAgain(_ key: Key, at time: Duration) {
        let timeSource = lanes.withLock { lanes in
            if lanes[key]?.wakeTime == time {
                lanes[key]?.wakeTime = nil
                lanes[key]?.cancelWake = nil
            }
            return lanes[key]?.timeSource
        }
        if let timeSource { update(key, timeSource) { _ in } }
    }
}

extension ApiConnectorError {
    fileprivate static func cannotBeInTime(_ wait: Duration) -> ApiConnectorError {
        return ApiConnectorError(
            .deadlineExceeded,
            "the request limit lets it start in \(wait.inMilliseconds()) at the earliest, after its deadline"
        )
    }
}
