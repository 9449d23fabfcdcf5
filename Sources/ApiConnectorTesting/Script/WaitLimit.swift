// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Ends a test's wait that has lasted too long, in real time; taken back as soon as nobody holds it.
///
/// Taken back, and not only ignored: a test with a hundred thousand cases would leave as many timers behind.
///
/// A limit passes in ten parts, and each counts only when a task that was made at its end has run. Where a thousand
/// tests share two threads, a task may wait for a minute until it is its turn, and that is nobody's fault.
final class WaitLimit: Sendable {
    private struct State {
        var partCount = 0
        var isCounting = false
    }

    /// Its own, so that nobody who blocks a thread of the global queue keeps a limit from passing.
    private static let queue = DispatchQueue(label: "ApiConnectorTesting.WaitLimit")

    /// The time that limits are compared with.
    static var now: DispatchTime { .now() }

    // After it was made it is only canceled, which Dispatch allows from everywhere.
    private nonisolated(unsafe) let timer: any DispatchSourceTimer
    private let state = Locked(State())
    private let action: @Sendable () -> Void

    /// Begins a limit; nil for `.distantFuture`, which arms nothing.
    init?(at deadline: DispatchTime, _ action: @escaping @Sendable () -> Void) {
        guard deadline != .distantFuture else { return nil }
        let now = Self.now
        let left = max(deadline.uptimeNanoseconds, now.uptimeNanoseconds) - now.uptimeNanoseconds
        // In seconds: nanoseconds in an Int end after 2.1 seconds on watch devices.
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
    /// So long from now; a year and more is no limit, as nobody waits so long and Dispatch counts nanoseconds.
    var dispatchDeadline: DispatchTime {
        self < .seconds(365 * 86_400) ? .now() + max(self, .zero) / .seconds(1) : .distantFuture
    }
}

/// What a test's wait throws when it has lasted too long.
struct WaitExpired: Error, CustomStringConvertible {
    let description: String
}
