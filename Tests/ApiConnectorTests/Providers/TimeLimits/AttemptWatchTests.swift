// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

struct AttemptWatchTests {
    /// A busy machine can delay the thread that starts a timer for longer than the timer takes.
    @Test func endsAStallWhoseTimerFiresBeforeItsEntryExists() {
        let clock = SynchronousClock()
        let watch = AttemptWatch(
            Timeouts(attempt: .seconds(100), stall: .seconds(30)),
            deadline: nil,
            timers: .on(clock),
            guards: .on(SynchronousClock())
        )
        let completion = Locked<(@Sendable () -> Void)?>(nil)
        let kinds = Locked<[ApiConnectorError.Kind]>([])
        // Adding the silence timer cancels the attempt's timer. The silence timer runs inside that cancellation.
        clock.whenCanceled { [weak clock] in clock?.advance(to: .seconds(30)) }
        _ = watch.attach(appliesStall: true) { done in
            completion.withLock { $0 = done }
        } _: { error in
            kinds.withLock { $0.append(error.kind) }
        }
        completion.withLock { $0.take() }?()
        #expect(kinds.withLock { $0 } == [.stalled])
    }

    /// A limit that fires late, because the process was suspended, first looks at what has arrived.
    @Test(arguments: LateLimit.allCases)
    func readsPendingBytesBeforeALimitEndsAWait(_ limit: LateLimit) {
        let clock = SynchronousClock()
        let watch = AttemptWatch(
            limit.timeouts.applied,
            deadline: limit.deadline,
            timers: .on(clock),
            guards: .on(SynchronousClock())
        )
        let completion = Locked<(@Sendable () -> Void)?>(nil)
        let kinds = Locked<[ApiConnectorError.Kind]>([])
        _ = watch.attach(appliesStall: true) { done in
            completion.withLock { $0 = done }
        } _: { error in
            kinds.withLock { $0.append(error.kind) }
        }
        clock.advance(to: .seconds(60))
        #expect(kinds.withLock { $0 } == [])
        completion.withLock { $0.take() }?()
        #expect(kinds.withLock { $0 } == [limit.kind])
    }

    @Test(arguments: LateLimit.allCases)
    func aTransportThatNeverCallsItsCompletionDoesNotDisableALimit(_ limit: LateLimit) {
        let (clock, guardClock) = (SynchronousClock(), SynchronousClock())
        let watch = AttemptWatch(
            limit.timeouts.applied,
            deadline: limit.deadline,
            timers: .on(clock),
            guards: .on(guardClock)
        )
        let kinds = Locked<[ApiConnectorError.Kind]>([])
        _ = watch.attach(appliesStall: true) { _ in
        } _: { error in
            kinds.withLock { $0.append(error.kind) }
        }
        clock.advance(to: .seconds(60))
        #expect(kinds.withLock { $0 } == [])
        // The test's clock stands still; the guard has its own.
        guardClock.advance(to: AttemptWatch.pendingLimit)
        #expect(kinds.withLock { $0 } == [limit.kind])
    }

    /// A late completion must not stop a wait that was attached after the limit.
    @Test(arguments: LateLimit.allCases)
    func aCompletionAfterTheGuardHasNoEffect(_ limit: LateLimit) {
        let (clock, guardClock) = (SynchronousClock(), SynchronousClock())
        let watch = AttemptWatch(
            limit.timeouts.applied,
            deadline: limit.deadline,
            timers: .on(clock),
            guards: .on(guardClock)
        )
        let completion = Locked<(@Sendable () -> Void)?>(nil)
        let kinds = Locked<[ApiConnectorError.Kind]>([])
        _ = watch.attach(appliesStall: true) { done in
            completion.withLock { $0 = done }
        } _: { error in
            kinds.withLock { $0.append(error.kind) }
        }
        clock.advance(to: .seconds(60))
        guardClock.advance(to: AttemptWatch.pendingLimit)
        completion.withLock { $0.take() }?()
        #expect(kinds.withLock { $0 } == [limit.kind])
    }

    /// The bytes were the end of the response.
    @Test(arguments: LateLimit.allCases)
    func stopsNoWaitThatEndedWithItsPendingBytes(_ limit: LateLimit) {
        let clock = SynchronousClock()
        let watch = AttemptWatch(
            limit.timeouts.applied,
            deadline: limit.deadline,
            timers: .on(clock),
            guards: .on(SynchronousClock())
        )
        let kinds = Locked<[ApiConnectorError.Kind]>([])
        _ = watch.attach(appliesStall: true) { [weak watch] done in
            watch?.end()
            done()
        } _: { error in
            kinds.withLock { $0.append(error.kind) }
        }
        clock.advance(to: .seconds(60))
        #expect(kinds.withLock { $0 } == [])
    }
}

/// A time limit that is reached after 60 seconds.
enum LateLimit: CaseIterable, Sendable {
    case stall, attempt, overall

    var timeouts: Timeouts {
        switch self {
        case .stall: Timeouts(stall: .seconds(60))
        case .attempt: Timeouts(attempt: .seconds(60), stall: Timeouts.noLimit)
        case .overall: Timeouts(stall: Timeouts.noLimit, overall: .seconds(60))
        }
    }

    var deadline: Duration? { timeouts.applied.overall }

    var kind: ApiConnectorError.Kind {
        switch self {
        case .stall: .stalled
        case .attempt: .timedOut
        case .overall: .deadlineExceeded
        }
    }
}
