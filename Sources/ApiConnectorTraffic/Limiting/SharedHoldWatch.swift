// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// When an instance asks the shared state whether another instance has reported a server's pause: a state machine that
/// gets the time as an argument.
///
/// It is for a shared limit without tokens and places, such as an adaptive limit. A limit with tokens or places
/// needs no watch, because each reply with tokens or places also reports the pause.
struct SharedHoldWatch {
    private let interval: Duration
    private var isAsking = false
    private var nextAskTime: Duration = .zero
    private var backoff = SharedStateBackoff()

    init(_ policy: SharedLimitPolicy) {
        interval = policy.refreshInterval
    }

    /// Whether the shared state is unavailable.
    var isAlone: Bool { backoff.isAway }

    /// Whether a new watch would behave the same.
    func isForgettable(now: Duration) -> Bool { !isAsking && !isAlone && nextAskTime <= now }

    /// Whether to ask now.
    ///
    /// - Parameter isSending: Whether requests wait or have just started.
    mutating func ask(isSending: Bool, now: Duration) -> Bool {
        guard isSending, !isAsking, nextAskTime <= now else { return false }
        isAsking = true
        return true
    }

    /// Records the end of a request to the shared state.
    mutating func end(isAway: Bool, now: Duration) {
        isAsking = false
        if isAway {
            backoff.fail(now: now)
            nextAskTime = backoff.end
        } else {
            backoff.succeed()
            nextAskTime = now + interval
        }
    }
}
