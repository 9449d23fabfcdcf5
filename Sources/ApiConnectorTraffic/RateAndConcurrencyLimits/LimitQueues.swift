// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The queues of all hosts and route classes in use.
final class LimitQueues: Sendable {
    struct Key: Hashable {
        let origin: HTTPOrigin
        let routeClass: String
        /// The scale of the times in a queue, because times of different scales cannot be compared.
        let scale: ObjectIdentifier
    }

    private struct Entry {
        var queue: LimitQueue
        /// The time source of the wake-up.
        ///
        /// The entry keeps the time source alive. So the wake-up does not depend on the request that scheduled it, and
        /// the identifier of the time source's scale is not used again for another scale.
        let timeSource: any TimeSource
        var wakeTime: Duration?
        var isWaiting = false
        /// Cancels the scheduled wake-up.
        var cancelWake: (@Sendable () -> Void)?
    }

    /// Above this number, empty queues are forgotten.
    static let maximumCount = 256

    private let limit: RequestLimit
    private let shared: SharedLimit?
    /// The name of this instance as an owner of places.
    private let owner = UUID().uuidString
    private let queues = Protected<[Key: Entry]>([:])

    init(_ limit: RequestLimit, _ shared: SharedLimit? = nil) {
        self.limit = limit
        self.shared = shared
    }

    /// The number of queues.
    var count: Int { queues.withLock { $0.count } }

    /// The number of waiting requests.
    var waiterCount: Int { queues.withLock { $0.values.reduce(0) { $0 + $1.queue.waiterCount } } }

    /// The number of requests in flight.
    var inFlightCount: Int { queues.withLock { $0.values.reduce(0) { $0 + $1.queue.inFlightCount } } }

    /// Waits for a request's turn.
    ///
    /// - Throws: ``/ApiConnector/ApiConnectorError`` of kind `.deadlineExceeded` as soon as the turn would come too
    ///   late; otherwise the error that ended the wait.
    func enter(_ key: Key, _ request: ApiRequest) async throws(ApiConnectorError) -> LimitSlot {
        if Task.isCancelled { throw .cancelled(request) }
        let waiter = LimitWaiter(request)
        let start = request.timeSource.now
        var obstacle: LimitQueue.Obstacle?
        var number: Int?
        var isAlone = false
        update(key, request.timeSource) { queue, turn in
            queue.enter(waiter)
            turn = queue.turn(now: start)
            number = turn.started.first { $0.waiter === waiter }?.number
            isAlone = queue.isAlone
            if number == nil { obstacle = queue.obstacle(now: start) ?? .rate }
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

    /// Changes a queue, and then starts the requests that may start.
    func update(_ key: Key, _ timeSource: any TimeSource, _ change: (inout LimitQueue) -> Void) {
        let now = timeSource.now
        update(key, timeSource) { queue, turn in
            change(&queue)
            turn = queue.turn(now: now)
        }
    }

    private func update(
        _ key: Key,
        _ timeSource: any TimeSource,
        _ change: (inout LimitQueue, inout LimitQueue.Turn) -> Void
    ) {
        let now = timeSource.now
        var stale: (@Sendable () -> Void)?
        var newWakeTime: Duration?
        let (turn, timeSource) = queues.withLock { queues in
            if queues[key] == nil, queues.count >= Self.maximumCount {
                queues = queues.filter { !$0.value.queue.isEmpty }
            }
            var entry =
                queues.removeValue(forKey: key)
                ?? Entry(queue: LimitQueue(limit, shared?.policy), timeSource: timeSource)
            var turn = LimitQueue.Turn()
            change(&entry.queue, &turn)
            if (entry.wakeTime, entry.isWaiting) != (turn.wakeTime, turn.isWaiting) {
                (entry.wakeTime, entry.isWaiting) = (turn.wakeTime, turn.isWaiting)
                stale = entry.cancelWake.take()
                newWakeTime = turn.wakeTime
            }
            if !entry.queue.isForgettable(now: now) { queues[key] = entry }
            return (turn, entry.timeSource)
        }
        stale?()
        for (waiter, number) in turn.started { waiter.resume(with: .success(number)) }
        for (waiter, wait) in turn.hopeless { waiter.resume(with: .failure(.cannotBeInTime(wait))) }
        if let newWakeTime { wake(key, at: newWakeTime, isWaiting: turn.isWaiting, timeSource) }
        if let shared, turn.tokenCount != nil || turn.hold != nil { share(turn, as: shared, key, timeSource) }
        if let shared, let places = turn.places { take(places, as: shared, key, timeSource) }
    }

    /// Takes tokens from the shared state, and reports the server's pause to it.
    private func share(_ turn: LimitQueue.Turn, as shared: SharedLimit, _ key: Key, _ timeSource: any TimeSource) {
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
                update(key, timeSource) { queue in queue.endHold(isShared: result != nil, now: timeSource.now) }
            }
            guard let count else { return }
            let tokens = try? await shared.state.takeTokens(
                count,
                of: sharedKey,
                // Without a rate, the queue takes no tokens, and only learns of pauses.
                at: limit.rate ?? RequestRate(1, per: .seconds(1)),
                ahead: policy.horizon,
                within: policy.operationLimit
            )
            update(key, timeSource) { queue in queue.grant(tokens, now: timeSource.now) }
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
            update(key, timeSource) { queue in queue.grant(places, now: timeSource.now) }
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
        let isNeeded = queues.withLock { queues in
            guard let entry = queues[key], entry.cancelWake == nil,
                (entry.wakeTime, entry.isWaiting) == (time, isWaiting)
            else { return false }
            queues[key]?.cancelWake = cancel
            return true
        }
        if !isNeeded { cancel() }
    }

    private func lookAgain(_ key: Key, at time: Duration) {
        let timeSource = queues.withLock { queues in
            if queues[key]?.wakeTime == time {
                queues[key]?.wakeTime = nil
                queues[key]?.cancelWake = nil
            }
            return queues[key]?.timeSource
        }
        if let timeSource { update(key, timeSource) { _ in } }
    }
}

/// A request's slot among the requests in flight, released once.
final class LimitSlot: Sendable {
    private struct State {
        var isAnswered = false
        var isReleased = false
    }

    /// How long the request waited for the slot.
    let wait: Duration
    private let queues: LimitQueues
    private let key: LimitQueues.Key
    private let number: Int
    private let timeSource: any TimeSource
    private let state = Protected(State())

    init(
        _ queues: LimitQueues,
        _ key: LimitQueues.Key,
        _ number: Int,
        _ timeSource: any TimeSource,
        after wait: Duration = .zero
    ) {
        self.wait = wait
        self.queues = queues
        self.key = key
        self.number = number
        self.timeSource = timeSource
    }

    /// Records that the head of the response has arrived, or that the request has failed.
    func answer(_ outcome: AdaptiveCount.Outcome, _ limits: ServerLimits?) {
        let now = timeSource.now
        let isFirst = state.withLock { state in
            defer { state.isAnswered = true }
            return !state.isAnswered
        }
        if isFirst { queues.update(key, timeSource) { [number] in $0.answer(number, outcome, limits, now: now) } }
    }

    /// Releases the slot after the request and its body have ended.
    func release() {
        answer(.unknown, nil)
        let isFirst = state.withLock { state in
            defer { state.isReleased = true }
            return !state.isReleased
        }
        if isFirst { queues.update(key, timeSource) { $0.finish() } }
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
