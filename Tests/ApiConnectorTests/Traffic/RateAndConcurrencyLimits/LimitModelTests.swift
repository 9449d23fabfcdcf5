// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// A queue against a model that keeps everything in lists, over random requests, answers, cancels and steps of the
/// clock.
@Suite(.timeLimit(.minutes(10))) struct LimitModelTests {}

extension LimitModelTests {
    @Test func aQueueStartsTheSameRequestsAsTheModel() async {
        await SplitMix64.runs(max(SplitMix64.caseCount / 10, 1)) { random in
            let limit = RequestLimit(
                concurrent: Bool.random(using: &random) ? .fixed(Int.random(in: 1...3, using: &random)) : nil,
                rate: Bool.random(using: &random)
                    ? RequestRate(
                        Int.random(in: 1...4, using: &random),
                        per: .milliseconds(700),
                        burstCount: Int.random(in: 1...3, using: &random)
                    ) : nil,
                maximumServerHold: .seconds(5)
            )
            var pair = QueuePair(limit)
            for _ in 0..<Int.random(in: 5...60, using: &random) { try pair.step(&random) }
            try pair.end()
        }
    }
}

/// The queue and its model, and the requests in them.
private struct QueuePair {
    private let limit: RequestLimit
    private let timers = TimerQueue.on(ManualClock())
    private var queue: LimitQueue
    private var now: Duration = .zero
    private var wakeTime: Duration?
    private var waiting: [(number: Int, waiter: LimitWaiter)] = []
    /// In the order in which they started.
    private var inFlight: [(number: Int, isAnswered: Bool)] = []
    private var nextNumber = 0

    // The model.
    private var starts: [Duration] = []
    private var pauseEnd: Duration = .zero
    /// The server's promises for one window, in order.
    private var promises: [(left: Int, end: Duration)] = []

    init(_ limit: RequestLimit) {
        self.limit = limit
        queue = LimitQueue(limit)
    }

    mutating func step(_ random: inout SplitMix64) throws {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4:
            let priority = CallPriority.allCases.randomElement(using: &random) ?? .normal
            let waiter = LimitWaiter(.made(priority: priority, on: timers))
            queue.enter(waiter)
            let place = waiting.firstIndex { $0.waiter.priority < priority } ?? waiting.count
            waiting.insert((nextNumber, waiter), at: place)
            nextNumber += 1
        case 4:
            guard let left = waiting.randomElement(using: &random) else { return }
            let hasLeft = queue.leave(left.waiter)
            try #require(hasLeft)
            waiting.removeAll { $0.number == left.number }
        case 5, 6:
            guard let index = inFlight.indices.randomElement(using: &random) else { return }
            if !inFlight[index].isAnswered {
                inFlight[index].isAnswered = true
                answer(index, &random)
            } else {
                inFlight.remove(at: index)
                queue.finish()
            }
        default:
            try advance(to: now + .milliseconds(Int.random(in: 0...900, using: &random)))
        }
        try turn()
    }

    /// After all requests have ended, the queue is like a new one.
    mutating func end() throws {
        for one in inFlight {
            if !one.isAnswered { queue.answer(one.number, .unknown, nil, now: now) }
            queue.finish()
        }
        inFlight = []
        try turn()
        while !waiting.isEmpty || !inFlight.isEmpty {
            for one in inFlight {
                queue.answer(one.number, .unknown, nil, now: now)
                queue.finish()
            }
            inFlight = []
            try turn()
            if let wakeTime, inFlight.isEmpty { try advance(to: wakeTime) }
        }
        try #require(queue.isEmpty)
        try #require(queue.isForgettable(now: now + .seconds(100)))
    }

    private mutating func answer(_ index: Int, _ random: inout SplitMix64) {
        let number = inFlight[index].number
        let seconds = Int.random(in: 0...8, using: &random)
        let left = Int.random(in: 0...4, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            let limits = ServerLimits(["Retry-After": "\(seconds)"], status: 429, date: Date(timeIntervalSince1970: 0))
            queue.answer(number, .success, limits, now: now)
            pauseEnd = max(pauseEnd, now + .seconds(min(seconds, 5)))
        case 1:
            let field = "\"default\";r=\(left);t=\(seconds)"
            let limits = ServerLimits(["RateLimit": field], status: 200, date: Date(timeIntervalSince1970: 0))
            queue.answer(number, .success, limits, now: now)
            let end = now + .seconds(min(seconds, 5))
            let laterCount = inFlight[index...].count { !$0.isAnswered }
            promises.removeAll { $0.end <= now || end > $0.end + .seconds(1) }
            promises.append((max(left - laterCount, 0), promises.first?.end ?? end))
        default:
            queue.answer(number, .success, nil, now: now)
        }
    }

    /// Time goes on; the queue has said when it wants to be asked.
    private mutating func advance(to time: Duration) throws {
        while let due = wakeTime, due <= time {
            try #require(due > now, "the queue wants to be asked without end")
            now = due
            try turn()
        }
        now = max(now, time)
    }

    private mutating func turn() throws {
        let turn = queue.turn(now: now)
        wakeTime = turn.wakeTime
        try #require(turn.hopeless.isEmpty)
        var expected: [LimitWaiter] = []
        while let first = waiting.first, mayStart {
            waiting.removeFirst()
            starts.append(now)
            inFlight.append((0, false))
            promises.removeAll { $0.end <= now }
            for index in promises.indices { promises[index].left -= 1 }
            expected.append(first.waiter)
        }
        try #require(turn.started.map { ObjectIdentifier($0.waiter) } == expected.map { ObjectIdentifier($0) })
        for (index, started) in zip(inFlight.indices.suffix(turn.started.count), turn.started) {
            inFlight[index].number = started.number
        }
        try #require(inFlight.count <= limit.concurrent?.initialCount ?? .max)
        // A request that waits is woken, by the end of another or by the time.
        try #require(waiting.isEmpty || wakeTime != nil || inFlight.count == limit.concurrent?.initialCount)
    }

    private var mayStart: Bool {
        guard inFlight.count < limit.concurrent?.initialCount ?? .max, pauseEnd <= now else { return false }
        guard promises.allSatisfy({ $0.end <= now || $0.left > 0 }) else { return false }
        guard let rate = limit.rate else { return true }
        // Since each start there are no more than the burst and what the time has brought.
        let interval = rate.duration / rate.count
        return starts.indices.allSatisfy { index in
            let count = starts.count - index + 1
            return interval * (count - rate.burstCount) <= now - starts[index]
        }
    }
}
