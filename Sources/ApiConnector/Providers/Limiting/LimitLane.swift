// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Who may start when, of the requests that share a limit: a state machine that is handed the time.
struct LimitLane {
    /// What keeps the next one from starting.
    enum Obstacle: String {
        case concurrency, rate, server
    }

    /// What there is to do, outside the lock, when something has changed.
    struct Turn {
        var started: [LimitWaiter] = []
        /// Those that cannot start before their deadline, with the wait that they would have.
        var hopeless: [(waiter: LimitWaiter, wait: Duration)] = []
        /// When to look again; nil where a request that ends, or a new one, is waited for.
        var wakeTime: Duration?
    }

    private let limit: RequestLimit
    private var schedule: RateSchedule?
    /// In the order in which they start.
    private var waiters: [LimitWaiter] = []
    private(set) var inFlightCount = 0
    /// Those in flight whose head has not come: what the server says it has left is without them.
    private var unansweredCount = 0
    /// No request before this: what the server asked for.
    private var pauseEnd: Duration = .zero
    private var quota: (count: Int, end: Duration)?

    init(_ limit: RequestLimit) {
        self.limit = limit
        schedule = limit.rate.map { RateSchedule($0) }
    }

    /// How many wait.
    var waiterCount: Int { waiters.count }

    /// Whether nobody is in it.
    var isEmpty: Bool { inFlightCount == 0 && waiters.isEmpty }

    /// Whether it is as good as a new one.
    func isForgettable(now: Duration) -> Bool {
        isEmpty && pauseEnd <= now && quota.map { $0.end <= now } != false && schedule?.isFull(now: now) != false
    }

    /// Queues a request behind all of its priority and of higher ones.
    mutating func enter(_ waiter: LimitWaiter) {
        let place = waiters.lastIndex { $0.priority >= waiter.priority }.map { $0 + 1 } ?? 0
        waiters.insert(waiter, at: place)
    }

    /// Takes a request out of the queue; false if it is in there no more.
    mutating func leave(_ waiter: LimitWaiter) -> Bool {
        guard let place = waiters.firstIndex(where: { $0 === waiter }) else { return false }
        waiters.remove(at: place)
        return true
    }

    /// The head of a request's response has come, or it failed before.
    mutating func answer(_ limits: ServerLimits?, now: Duration) {
        unansweredCount -= 1
        guard let limits else { return }
        if let pause = limits.pause { pauseEnd = max(pauseEnd, now + capped(pause)) }
        guard let left = limits.quota else { return }
        let count = max(left.count - unansweredCount, 0)
        let end = now + capped(left.reset)
        // Responses overtake each other: within one window the least is right. Windows are told in whole seconds.
        if let known = quota, known.end > now, end <= known.end + .seconds(1) {
            quota?.count = min(known.count, count)
        } else {
            quota = (count, end)
        }
    }

    /// A request is over.
    mutating func finish() {
        inFlightCount -= 1
    }

    /// Starts those that may start now, and finds those that will be too late.
    mutating func turn(now: Duration) -> Turn {
        var turn = Turn()
        while let first = waiters.first, obstacle(now: now) == nil {
            waiters.removeFirst()
            start(now: now)
            turn.started.append(first)
        }
        guard !waiters.isEmpty else { return turn }
        if waiters.contains(where: { $0.deadline != nil }) {
            var kept: [LimitWaiter] = []
            for waiter in waiters {
                let time = earliestStart(behind: kept.count, now: now)
                if let deadline = waiter.deadline, time >= deadline {
                    turn.hopeless.append((waiter, time - now))
                } else {
                    kept.append(waiter)
                }
            }
            waiters = kept
        }
        if !waiters.isEmpty, hasRoom { turn.wakeTime = earliestStart(behind: 0, now: now) }
        return turn
    }

    /// What the next one waits for; nil if it may start.
    func obstacle(now: Duration) -> Obstacle? {
        if pauseEnd > now || quotaEnd(behind: 0, now: now) > now { return .server }
        if let schedule, schedule.start(behind: 0, now: now) > now { return .rate }
        return hasRoom ? nil : .concurrency
    }

    private var hasRoom: Bool { inFlightCount < max(limit.concurrentCount ?? .max, 1) }

    private mutating func start(now: Duration) {
        inFlightCount += 1
        unansweredCount += 1
        schedule?.take(now: now)
        if let known = quota { quota = known.end > now ? (known.count - 1, known.end) : nil }
    }

    /// The time before which a request behind so many others cannot start, however soon those in flight end.
    private func earliestStart(behind count: Int, now: Duration) -> Duration {
        let time = max(now, pauseEnd, quotaEnd(behind: count, now: now))
        return max(time, schedule?.start(behind: count, now: now) ?? now)
    }

    private func quotaEnd(behind count: Int, now: Duration) -> Duration {
        guard let quota, quota.end > now, quota.count <= count else { return now }
        return quota.end
    }

    private func capped(_ wait: Duration) -> Duration { min(wait, max(limit.maximumServerHold, .zero)) }
}
