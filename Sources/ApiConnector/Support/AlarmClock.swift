// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A time source that wakes a timer queue by itself, and so can tell who waits for a time from what only limits a wait.
package protocol AlarmClock: TimeSource {
    /// Runs an action when `now` has reached a time, never before this returns.
    ///
    /// - Returns: What takes the alarm back.
    func alarm(at due: Duration, _ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void
}

extension ApiRequest {
    /// Runs an action at a time of the request's time source, as one of its connection's timers.
    ///
    /// - Returns: What takes it back.
    package func schedule(at due: Duration, _ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let queue = timerQueue
        let entry = queue.add(at: due, action)
        return { queue.remove(entry) }
    }
}
