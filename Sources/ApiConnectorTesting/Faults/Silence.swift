// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A wait for a silent server.
///
/// A timeout or a cancel ends it, or the transport gives up.
final class Silence: Sendable {
    private struct State {
        var hasBegun = false
        var hasEnded = false
        var isServing = false
        var takeBackTimeout: (@Sendable () -> Void)?
    }

    private let request: ApiRequest
    /// The error with which the transport gives up; nil if the transport waits forever.
    private let timeout: ApiConnectorError?
    private let clock: SkippingClock?
    private let reason = Eventual<ApiConnectorError>()
    private let state = Locked(State())

    init(of request: ApiRequest, timeout: ApiConnectorError?) {
        self.request = request
        self.timeout = timeout
        clock = request.timeSource as? SkippingClock
    }

    /// Ends the wait; only the first error counts.
    func end(_ error: ApiConnectorError) {
        let before = state.withLock { state in
            defer { state.hasEnded = true }
            return state
        }
        guard !before.hasEnded else { return }
        reason.set(error)
        before.takeBackTimeout?()
        if before.hasBegun { clock?.endSilence(isServing: before.isServing) }
    }

    /// Waits for the end, within the request's timeouts, and returns the error.
    func wait() async -> ApiConnectorError {
        await request.withStopHandler {
            await reasonOfEnd()
        } readPending: { completion in
            // No bytes are pending. Without this closure, the stall timeout would use the real transport's closure,
            // whose completion could come after the clock has stopped.
            completion()
        } onStop: { [self] in
            end($0)
        }
    }

    private func reasonOfEnd() async -> ApiConnectorError {
        if let timeout {
            let due = request.timeSource.now + Fault.timeout
            let takeBack = request.timeSource.schedule(at: due) { [weak self] in self?.end(timeout) }
            let isOver = state.withLock { state in
                state.takeBackTimeout = takeBack
                return state.hasEnded
            }
            if isOver { takeBack() }
        }
        let isServing = SkippingClock.isServing
        let isSilent = state.withLock { state in
            state.hasBegun = !state.hasEnded
            state.isServing = isServing
            return state.hasBegun
        }
        // This comes last, because it may move the clock, and the silence may end before `beginSilence` returns.
        if isSilent { clock?.beginSilence(isServing: isServing) }
        return await reason.value()
    }
}
