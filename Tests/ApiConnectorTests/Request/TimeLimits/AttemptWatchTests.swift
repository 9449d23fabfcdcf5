// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

@Suite struct AttemptWatchTests {
    /// A busy machine can delay the thread that starts a timer for longer than the timer takes.
    @Test func endsAStallWhoseTimerFiresBeforeItsEntryExists() {
        let clock = SynchronousClock()
        let watch = AttemptWatch(
            Timeouts(attempt: .seconds(100), stall: .seconds(30)),
            deadline: nil,
            timers: .on(clock)
        )
        let completion = Locked<(@Sendable () -> Void)?>(nil)
        let kinds = Locked<[ApiConnectorError.Kind]>([])
        // Adding the silence timer cancels the attempt's timer. The silence timer runs inside that cancellation.
        clock.whenCanceled { [weak clock] in clock?.advance(to: .seconds(30)) }
        _ = watch.attach(limitsSilence: true) { done in
            completion.withLock { $0 = done }
        } _: { error in
            kinds.withLock { $0.append(error.kind) }
        }
        completion.withLock { $0.take() }?()
        #expect(kinds.withLock { $0 } == [.stalled])
    }
}
