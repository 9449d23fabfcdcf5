// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// Ends a test's wait after a limit in real time.
///
/// It is canceled when it is released.
///
/// The timer is canceled, not only ignored. Otherwise a test with 100,000 cases would leave 100,000 timers behind.
///
/// A limit consists of ten parts. At the end of each part, a task is started, and the part counts only after this task
/// has run. If a thousand tests share two threads, a task may wait for a minute until it runs. Such a wait must not end
/// a test.
final class WaitLimit: Sendable {
    private struct State {
        var partCount = 0
        var isCounting = false
    }

    /// Limits have their own queue, so that blocked threads of the global queue do not delay them.
    private static let queue = DispatchQueue(label: "ApiConnectorTesting.WaitLimit")

    /// The current time, with which limits are compared.
    static var now: DispatchTime { .now() }

    // After its creation the timer is only canceled, which Dispatch allows on every thread.
    private nonisolated(unsafe) let timer: any DispatchSourceTimer
    private let state = Locked(State())
    private let action: @Sendable () -> Void

    /// Starts a limit; nil for `.distantFuture`, which needs no timer.
    init?(at deadline: DispatchTime, _ action: @escaping @Sendable () -> Void) {
        guard deadline != .distantFuture else { return nil }
        let now = Self.now
        let left = max(deadline.uptimeNanoseconds, now.uptimeNanoseconds) - now.uptimeNanoseconds
        // The part is in seconds, because on watch devices nanoseconds in an `Int` overflow after 2.1 seconds.
        let part = Double(max(left / 10, 100_000)) / 1e9
        timer = DispatchSource.makeTimerSource(queue: Self.queue)
        self.action = action
        timer.setEventHandler { [weak self] in self?.endPart() }
        timer.schedule(deadline: now + part, repeating: part)
        timer.resume()
    }

    deinit { timer.cancel() }

    private func endPart() {
        let isCounting = state.withLock { state in
            defer { state.isCounting = true }
            return state.isCounting
        }
        if !isCounting { Task { [weak self] in self?.countPart() } }
    }

    private func countPart() {
        let isOver = state.withLock { state in
            state.isCounting = false
            state.partCount += 1
            return state.partCount == 10
        }
        guard isOver else { return }
        timer.cancel()
        action()
    }
}

extension Duration {
    /// The point in time after this duration, counted from now.
    ///
    /// One year or more means no limit, because Dispatch counts nanoseconds.
    package var dispatchDeadline: DispatchTime {
        self < .seconds(365 * 86_400) ? .now() + max(self, .zero) / .seconds(1) : .distantFuture
    }
}

/// The error of a test's wait that timed out.
struct WaitExpired: Error, CustomStringConvertible {
    let description: String
}
