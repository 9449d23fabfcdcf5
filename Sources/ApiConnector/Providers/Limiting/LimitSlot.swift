// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A request's place among those in flight, given back once.
final class LimitSlot: Sendable {
    private struct State {
        var isAnswered = false
        var isReleased = false
    }

    private let lanes: LimitLanes
    private let key: LimitLanes.Key
    private let number: Int
    private let timers: TimerQueue
    private let state = Locked(State())

    init(_ lanes: LimitLanes, _ key: LimitLanes.Key, _ number: Int, _ timers: TimerQueue) {
        self.lanes = lanes
        self.key = key
        self.number = number
        self.timers = timers
    }

    /// The head of the response has come.
    func answer(_ limits: ServerLimits?) {
        let now = timers.timeSource.now
        let isFirst = state.withLock { state in
            defer { state.isAnswered = true }
            return !state.isAnswered
        }
        if isFirst { lanes.update(key, timers) { [number] in $0.answer(number, limits, now: now) } }
    }

    /// The request is over, its body too.
    func release() {
        answer(nil)
        let isFirst = state.withLock { state in
            defer { state.isReleased = true }
            return !state.isReleased
        }
        if isFirst { lanes.update(key, timers) { $0.finish() } }
    }
}
