// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

@Suite struct AttemptWatchTests {
    /// A busy machine can delay the thread that starts a timer for longer than the timer takes.
    @Test func endsASilenceWhoseTimerRunsBeforeItsEntryIsKnown() {
        let clock = SynchronousClock()
        let watch = AttemptWatch(
            Timeouts(attempt: .seconds(100), stall: .seconds(30)),
            deadline: nil,
            timers: .on(clock)
        )
        let completion = Locked<(@Sendable () -> Void)?>(nil)
        let kinds = Locked<[ApiConnectorError.Kind]>([])
        // The attempt's timer is taken back for the earlier one of silence, when that runs already.
        clock.whenCancelled { [weak clock] in clock?.advance(to: .seconds(30)) }
        _ = watch.attach(limitsSilence: true) { done in
            completion.withLock { $0 = done }
        } _: { error in
            kinds.withLock { $0.append(error.kind) }
        }
        completion.withLock { $0.take() }?()
        #expect(kinds.withLock { $0 } == [.stalled])
    }
}
