// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// Runs the steps of a queue, and records when each request started.
struct LimitQueueRun {
    enum Step: Sendable {
        case enter(String, CallPriority = .normal, deadline: Duration? = nil)
        case leave(String)
        /// The response's head: the status and its fields.
        case answer(String, HTTPStatus = 200, HTTPHeaders = [:])
        case finish(String)
        /// Time goes on, and each request starts when it is due.
        case at(Double)
    }

    private var queue: LimitQueue
    private var now: Duration = .zero
    private var waiters: [(name: String, waiter: LimitWaiter)] = []
    private var numbers: [String: Int] = [:]
    private var wakeTime: Duration?
    private let timers = TimerQueue.on(ManualClock())
    /// "name@seconds" for a start, "name too late" for one that cannot start in time.
    private(set) var record: [String] = []

    init(_ limit: RequestLimit) {
        queue = LimitQueue(limit)
    }

    /// Whether the queue is as good as a new one.
    var isForgettable: Bool { queue.isForgettable(now: now) }

    mutating func take(_ step: Step) {
        switch step {
        case .enter(let name, let priority, let deadline):
            let waiter = LimitWaiter(.made(priority: priority, deadline: deadline, on: timers))
            waiters.append((name, waiter))
            queue.enter(waiter)
        case .leave(let name):
            if let waiter = waiters.first(where: { $0.name == name })?.waiter, !queue.leave(waiter) {
                record.append("\(name) had started")
            }
        case .answer(let name, let status, let headers):
            let limits = ServerLimits(headers, status: status, date: Date(timeIntervalSince1970: 0))
            queue.answer(numbers[name] ?? 0, limits.isThrottling ? .overload : .success, limits, now: now)
        case .finish:
            queue.finish()
        case .at(let seconds):
            let time = Duration.milliseconds(Int64(seconds * 1000))
            while let due = wakeTime, due <= time {
                now = max(due, now)
                turn()
            }
            now = time
        }
        turn()
    }

    private mutating func turn() {
        let turn = queue.turn(now: now)
        wakeTime = turn.wakeTime
        for (waiter, number) in turn.started {
            numbers[name(waiter)] = number
            record.append("\(name(waiter))@\(now / .seconds(1))")
        }
        for (waiter, _) in turn.hopeless { record.append("\(name(waiter)) too late") }
    }

    private func name(_ waiter: LimitWaiter) -> String {
        waiters.first { $0.waiter === waiter }?.name ?? "?"
    }
}
