// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A request's slot among the requests in flight, released once.
final class LimitSlot: Sendable {
    private struct State {
        var isAnswered = false
        var isReleased = false
    }

    /// How long the request waited for the slot.
    let wait: Duration
    private let lanes: LimitLanes
    private let key: LimitLanes.Key
    private let number: Int
    private let timeSource: any TimeSource
    private let state = Protected(State())

    init(
        _ lanes: LimitLanes,
        _ key: LimitLanes.Key,
        _ number: Int,
        _ timeSource: any TimeSource,
        after wait: Duration = .zero
    ) {
        self.wait = wait
        self.lanes = lanes
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
        if isFirst { lanes.update(key, timeSource) { [number] in $0.answer(number, outcome, limits, now: now) } }
    }

    /// Releases the slot after the request and its body have ended.
    func release() {
        answer(.unknown, nil)
        let isFirst = state.withLock { state in
            defer { state.isReleased = true }
            return !state.isReleased
        }
        if isFirst { lanes.update(key, timeSource) { $0.finish() } }
    }
}
