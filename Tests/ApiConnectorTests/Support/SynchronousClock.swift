// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A clock whose actions run on the thread that moves it, before the move returns.
///
/// So the test alone decides what happens before a limit of time and what happens after it.
final class SynchronousClock: TimeSource {
    private let state = Locked((now: Duration.zero, actions: [(due: Duration, run: @Sendable () -> Void)]()))
    private let cancelAction = Locked<(@Sendable () -> Void)?>(nil)

    var now: Duration { state.withLock { $0.now } }
    var date: Date { Date(timeIntervalSince1970: 0) }

    func sleep(until deadline: Duration) async throws {}

    func schedule(at due: Duration, _ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        state.withLock { $0.actions.append((due, action)) }
        return { [weak self] in self?.cancelAction.withLock { $0 }?() }
    }

    /// Runs an action each time a scheduled action is canceled.
    ///
    /// The canceled action still runs.
    func whenCanceled(_ action: @escaping @Sendable () -> Void) {
        cancelAction.withLock { $0 = action }
    }

    func advance(to time: Duration) {
        let due = state.withLock { state in
            state.now = time
            defer { state.actions.removeAll { $0.due <= time } }
            return state.actions.filter { $0.due <= time }
        }
        for action in due { action.run() }
    }
}
