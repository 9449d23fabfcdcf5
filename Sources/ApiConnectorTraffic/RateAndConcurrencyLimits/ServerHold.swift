// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// How long a server wants no requests: its pauses and its quota.
struct ServerHold {
    private struct Quota: Equatable {
        var count: Int
        let end: Duration
    }

    /// The longest hold that a response can cause.
    private let longest: Duration
    /// The end of the server's pause: no request starts before this time.
    private var pauseEnd: Duration = .zero
    private var quota: Quota?
    /// When the last request succeeded; nil before that.
    private var lastSuccess: Duration?

    init(atMost longest: Duration) {
        self.longest = longest
    }

    func isOver(now: Duration) -> Bool { pauseEnd <= now && quota.map { $0.end <= now } != false }

    /// When a request with `count` others ahead of it may start.
    func end(behind count: Int, now: Duration) -> Duration {
        guard let quota, quota.end > now, quota.count <= count else { return max(pauseEnd, now) }
        return max(pauseEnd, quota.end)
    }

    /// Records that a request starts.
    mutating func take(now: Duration) {
        if let known = quota { quota = known.end > now ? Quota(count: known.count - 1, end: known.end) : nil }
    }

    /// Adds a pause; returns the time at which all pauses are over.
    mutating func pause(for duration: Duration, now: Duration) -> Duration {
        pauseEnd = max(pauseEnd, now + min(duration, longest))
        return pauseEnd
    }

    mutating func noteSuccess(now: Duration) { lastSuccess = now }

    /// Applies the limits of a response; returns whether they change when requests may start.
    ///
    /// - Parameters:
    ///   - startTime: When the request started.
    ///   - laterCount: The number of requests in flight that were started after this one.
    mutating func apply(_ limits: ServerLimits, startTime: Duration, laterCount: Int, now: Duration) -> Bool {
        let before = (pauseEnd, quota)
        // If another request succeeded meanwhile, only a part of the origin's servers is overloaded.
        let isMixed = limits.isPartial && lastSuccess.map { $0 > startTime } == true
        if let duration = limits.pause, !isMixed { _ = pause(for: duration, now: now) }
        if let left = limits.quota {
            // The server's count already includes the requests that were sent before this one.
            let new = Quota(count: max(left.count - laterCount, 0), end: now + min(left.reset, longest))
            // Responses may arrive out of order, so within one window the smallest count is right. The server rounds the
            // end of a window to whole seconds.
            if let known = quota, known.end > now, new.end <= known.end + .seconds(1) {
                quota?.count = min(known.count, new.count)
            } else {
                quota = new
            }
        }
        return before != (pauseEnd, quota)
    }
}

/// How the instances that share a limit tell each other of a server's pause: a state machine that gets the time as an
/// argument.
struct HoldExchange {
    enum Mode {
        /// The limit is not shared.
        case none
        /// Each reply with tokens or places also reports the other instances' pauses.
        case withReplies
        /// The limit has no tokens and places, such as an adaptive limit. So an instance that sends requests asks at
        /// an interval.
        case byAsking(each: Duration)
    }

    private let mode: Mode
    /// The end of the pause that the other instances know.
    private var knownEnd: Duration = .zero
    private var reportBackoff = SharedStateBackoff()
    private var isAsking = false
    private var nextAskTime: Duration = .zero
    private var askBackoff = SharedStateBackoff()

    init(_ mode: Mode) {
        self.mode = mode
    }

    /// Whether the shared state did not answer when it was asked last.
    var isAlone: Bool { askBackoff.isAway }

    /// Whether a new exchange would behave the same.
    func isForgettable(now: Duration) -> Bool { !isAsking && !isAlone && nextAskTime <= now }

    /// Records that another instance has reported a pause.
    mutating func learn(_ end: Duration) { knownEnd = max(knownEnd, end) }

    /// How long no instance may send a request, if the other instances do not know it yet.
    mutating func report(_ end: Duration, now: Duration) -> Duration? {
        guard isUnknown(end, now: now), reportBackoff.isOver(now: now) else { return nil }
        knownEnd = end
        return end - now
    }

    /// When to report a pause again; nil if the other instances know it.
    func nextReportTime(of end: Duration, now: Duration) -> Duration? {
        isUnknown(end, now: now) && reportBackoff.end < end ? reportBackoff.end : nil
    }

    /// Records whether the other instances know the pause now.
    mutating func endReport(isShared: Bool, now: Duration) {
        if isShared { return reportBackoff.succeed() }
        reportBackoff.fail(now: now)
        knownEnd = .zero
    }

    private func isUnknown(_ end: Duration, now: Duration) -> Bool {
        if case .none = mode { return false }
        return end > now && end > knownEnd + .seconds(1)
    }

    /// Whether to ask the shared state now for the other instances' pauses.
    ///
    /// - Parameter isSending: Whether requests wait or have just started.
    mutating func ask(isSending: Bool, now: Duration) -> Bool {
        guard case .byAsking = mode, isSending, !isAsking, nextAskTime <= now else { return false }
        isAsking = true
        return true
    }

    /// Records the end of asking.
    mutating func endAsking(isAway: Bool, now: Duration) {
        guard case .byAsking(let interval) = mode else { return }
        isAsking = false
        if isAway {
            askBackoff.fail(now: now)
            nextAskTime = askBackoff.end
        } else {
            askBackoff.succeed()
            nextAskTime = now + interval
        }
    }
}
