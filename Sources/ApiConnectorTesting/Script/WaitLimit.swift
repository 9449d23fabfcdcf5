// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Ends a test's wait after a limit in real time; canceled when it is released.
///
/// The timer is canceled, not only ignored: otherwise a test with 100,000 cases would leave as many timers behind.
///
/// A limit passes in ten parts. A part counts only after a task that was started at its end has run. If a thousand
/// tests share two threads, a task may wait for a minute until it runs, and such a wait must not end a test.
final class WaitLimit: Sendable {
    private struct State {
        var partCount = 0
        var isCounting = false
    }

    /// Its own queue, so that blocked threads of the global queue do not delay a limit.
    private static let queue = DispatchQueue(label: "ApiConnectorTesting.WaitLimit")

    /// The time that limits are compared with.
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
        // In seconds: nanoseconds in an `Int` overflow after 2.1 seconds on watch devices.
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
    /// The deadline after this duration from now.
    ///
    /// One year or more means no limit, because Dispatch counts nanoseconds.
    var dispatchDeadline: DispatchTime {
        self < .seconds(365 * 86_400) ? .now() + max(self, .zero) / .seconds(1) : .distantFuture
    }
}

/// The error of a test's wait that timed out.
struct WaitExpired: Error, CustomStringConvertible {
    let description: String
}
