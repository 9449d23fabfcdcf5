// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Ends a test's wait that has lasted too long, in real time; taken back as soon as nobody holds it.
///
/// Taken back, and not only ignored: a test with a hundred thousand cases would leave as many timers behind.
final class WaitLimit: Sendable {
    /// The time that limits are compared with.
    static var now: DispatchTime { .now() }

    // Nothing is done with it but cancelling it, once, which Dispatch allows from everywhere.
    private nonisolated(unsafe) let timer: any DispatchSourceTimer

    /// Begins a limit; nil for `.distantFuture`, which arms nothing.
    init?(at deadline: DispatchTime, _ action: @escaping @Sendable () -> Void) {
        guard deadline != .distantFuture else { return nil }
        timer = DispatchSource.makeTimerSource(queue: .global())
        timer.setEventHandler(handler: action)
        timer.schedule(deadline: deadline)
        timer.resume()
    }

    deinit { timer.cancel() }
}

extension Duration {
    /// So long from now; a year and more is no limit, as nobody waits so long and Dispatch counts nanoseconds.
    var dispatchDeadline: DispatchTime {
        self < .seconds(365 * 86_400) ? .now() + .nanoseconds(Int(max(self, .zero) / .nanoseconds(1))) : .distantFuture
    }
}

/// What a test's wait throws when it has lasted too long.
struct WaitExpired: Error, CustomStringConvertible {
    let description: String
}
